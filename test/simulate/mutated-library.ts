import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { onTestFinished } from 'vitest'

/** One replacement in one source file: path, old text, new text. */
export type SourceChange = readonly [file: string, from: string, to: string]

const root = join(import.meta.dirname, '..', '..')

/**
 * Builds a copy of the library with guards removed, inside the project so that packages resolve. Fails when the text of a guard is not
 * found.
 */
export async function libraryWith(changes: readonly SourceChange[]): Promise<string> {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'stint-mutated-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const pending = new Set(changes)
  const transform = (code: string, id: string): string | null => {
    let changed = code
    for (const change of changes) {
      const [file, from, to] = change
      if (id !== join(root, file)) continue
      if (changed.split(from).length !== 2) throw new Error(`${file} has not just one: ${from}`)
      changed = changed.replace(from, () => to)
      pending.delete(change)
    }
    return changed === code ? null : changed
  }
  await build({
    input: { library: join(root, 'src', 'library.ts') },
    platform: 'node',
    external: ['@photostructure/sqlite'],
    plugins: [{ name: 'mutate', transform }],
    checks: { ineffectiveDynamicImport: false },
    output: { dir, format: 'esm' },
    logLevel: 'silent',
  })
  if (pending.size > 0)
    throw new Error(`not a part of the library: ${[...pending].map(([file]) => file).join(', ')}`)
  return join(dir, 'library.js')
}
