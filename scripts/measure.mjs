// Measures this Stint, and writes what was found to where it is shipped: `node scripts/measure.mjs` (after `npm run build`). With `--quick`
// it is only shown. It takes some minutes, and wants the machine for itself.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from '../bench/bundle.mjs'

const ROOT = join(import.meta.dirname, '..')
const SHIPPED = join(ROOT, 'src', 'simulate', 'measure', 'shipped.ts')
const isQuick = process.argv.includes('--quick')

const bundle = await bundleSources({ 'src/cli/study/measure/measure.ts': ['measure'] })
const { measure } = await import(pathToFileURL(bundle.file).href)
bundle.remove()

const stop = new AbortController()
for (const told of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(told, () => stop.abort())
const beside = (name) => join(ROOT, 'dist', name)
const measurement = await measure({
  size: isQuick ? 'quick' : 'full',
  programs: {
    stint: beside('stint.js'),
    library: beside('library.mjs'),
    worker: beside('measure-worker.js'),
  },
  onProgress: ({ what, done, total }) => process.stderr.write(`\r\u001B[K${done}/${total} ${what}`),
  signal: stop.signal,
})
process.stderr.write('\r\u001B[K')
console.log(JSON.stringify(measurement, null, 2))
if (!isQuick) {
  const text = `import type { Measurement } from '../contract.ts'

/** What was measured of this Stint before it was given out. Written by \`node scripts/measure.mjs\`. */
export const shipped: Measurement = ${JSON.stringify(measurement, null, 2)}
`
  writeFileSync(SHIPPED, text)
  spawnSync(process.execPath, [join(ROOT, 'node_modules', 'oxfmt', 'bin', 'oxfmt'), SHIPPED], {
    cwd: ROOT,
    stdio: 'inherit',
  })
}
