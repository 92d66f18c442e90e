import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { onTestFinished } from 'vitest'

/**
 * Bundles a TypeScript source for a child process to import; inside the project, so that packages are found. It waits minutes for a lock of
 * the index, not five seconds: on a busy machine another process may hold it that long.
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
    plugins: [{ name: 'wait for locks', transform: waitForLocks }],
    output: { file },
    logLevel: 'silent',
  })
  return file
}

function waitForLocks(code: string, path: string): string | undefined {
  if (!path.endsWith('src/index/index-file.ts')) return undefined
  const patient = code.replaceAll('busy_timeout = 5000', 'busy_timeout = 150000')
  if (patient === code) throw new Error(`${path} sets no busy timeout`)
  return patient
}
