// Every figure the docs claim, each as a ratio to its limit or rival in the same run: `npm run bench`.
// `npm run bench -- 0.05` runs at a twentieth of the size.
import { cpus } from 'node:os'
import * as journal from './journal.bench.mjs'
import * as hooks from './hooks.bench.mjs'
import * as index from './index.bench.mjs'
import * as histories from './import.bench.mjs'
import * as plan from './plan.bench.mjs'
import * as serve from './serve.bench.mjs'

const scale = Number(process.argv[2] ?? 1)
const say = (line) => process.stderr.write(`${line}\n`)
const results = [
  ...(await journal.run({ scale, say })),
  ...(await hooks.run({ scale, say })),
  ...(await index.run({ scale, say })),
  ...(await histories.run({ scale, say })),
  ...(await plan.run({ scale, say })),
  ...(await serve.run({ scale, say })),
]

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores\n`,
)
console.log('| what | ours | bare | ratio | limit | |\n|---|---|---|---|---|---|')
for (const { name, ours, bare, ratio, limit = '', note = '', ok } of results) {
  console.log(
    `| ${[name, time(ours) ?? note, time(bare) ?? '', ratio?.toFixed(2) ?? '', limit, ok ? 'ok' : 'OVER'].join(' | ')} |`,
  )
}
process.exitCode = results.every((result) => result.ok) ? 0 : 1

function time(ms) {
  if (ms === undefined) return undefined
  return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(2)} ms`
}
