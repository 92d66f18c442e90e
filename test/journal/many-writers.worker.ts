// One of many processes that append to the same log until it was disturbed often enough. Its clock goes back an hour halfway.
import { existsSync, writeSync } from 'node:fs'
import { Log } from '../../src/journal/log.ts'

const [path, link, name, count, enough] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const HOUR = 3_600_000
let written = 0
const log = new Log(
  { path, link },
  { now: () => Date.now() - (written >= Number(count) / 2 ? HOUR : 0) },
)
for (; written < Number(count) || !existsSync(enough); written += 1) {
  const [record] = log.append([
    { kind: 'note.added', by: 'test', data: { text: `${name}/${written}` } },
  ])
  writeSync(1, `ack ${record!.id}\n`)
}
