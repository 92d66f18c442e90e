// Measures this Stint and writes the results to src/cli/study/measured-rates.ts: `node
// scripts/measure.mjs` (after `npm run build`). `--quick` only prints them. Takes some minutes on
// an otherwise idle machine.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

const ROOT = join(import.meta.dirname, '..')
const MEASURED_RATES = join(ROOT, 'src', 'cli', 'study', 'measured-rates.ts')
const isQuick = process.argv.includes('--quick')

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop.abort())
const server = await createServer({
  root: ROOT,
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, ws: false },
})
let measurement
try {
  const { measure } = await server.ssrLoadModule('/bench/measure/measure.ts')
  measurement = await measure({
    size: isQuick ? 'quick' : 'full',
    onProgress: ({ what, done, total }) =>
      process.stderr.write(`\r\u001B[K${done}/${total} ${what}`),
    signal: stop.signal,
  })
} finally {
  await server.close()
}
process.stderr.write('\r\u001B[K')
console.log(JSON.stringify(measurement, null, 2))
if (!isQuick) {
  const text = `import type { Measurement } from './parameters.ts'

/** What was measured of this Stint before the release. Written by \`node scripts/measure.mjs\`. */
export const measuredRates: Measurement = ${JSON.stringify(measurement, null, 2)}
`
  writeFileSync(MEASURED_RATES, text)
  spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules', 'oxfmt', 'bin', 'oxfmt'), MEASURED_RATES],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  )
}
