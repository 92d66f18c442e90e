import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { onTestFinished } from 'vitest'

/**
 * Bundles a TypeScript source for a child process to import; inside the project, so that packages
 * are found.
 */
export async function bundled(source: URL): Promise<string> {
  const cache = join(import.meta.dirname, '../../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'stint-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'bundle.mjs')
  await build({
    input: fileURLToPath(source),
    platform: 'node',
    output: { file },
    logLevel: 'silent',
  })
  return file
}
