import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { onTestFinished } from 'vitest'

/** Bundles a TypeScript source for a child process to import; inside the project, so that packages are found. */
export async function bundled(source: string): Promise<string> {
  const cache = join(import.meta.dirname, '../../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'stint-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'bundle.mjs')
  await build({ input: join(import.meta.dirname, '../..', source), platform: 'node', output: { file }, logLevel: 'silent' })
  return file
}
