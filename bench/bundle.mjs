import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

/**
 * Bundles TypeScript sources into one file that Node can import: `{ 'src/a.ts': ['x', 'y'] }`. The
 * file is inside the project, so that Node finds packages.
 */
export async function bundleSources(sources) {
  const cache = join(ROOT, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'stint-bench-'))
  const lines = Object.entries(sources).map(
    ([path, names]) => `export { ${names.join(', ')} } from ${JSON.stringify(join(ROOT, path))}`,
  )
  const virtual = {
    name: 'sources',
    resolveId: (id) => (id === 'sources' ? id : null),
    load: (id) => (id === 'sources' ? lines.join('\n') : null),
  }
  const file = join(folder, 'bundle.mjs')
  await build({
    input: 'sources',
    platform: 'node',
    plugins: [virtual],
    output: { file, codeSplitting: false },
    logLevel: 'silent',
  })
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
