// One of several processes that append to a log while it is being purged, until it was purged often enough. Every tenth entry holds the
// secret.
import { existsSync, writeSync } from 'node:fs'
import { Log } from '../../src/journal/log.ts'

const [path, link, name, count, secret, enough] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
]
const log = new Log(link === '' ? { path } : { path, link })
for (let written = 0; written < Number(count) || !existsSync(enough); written += 1) {
  const text = written % 10 === 0 ? `${name}/${written} ${secret}` : `${name}/${written}`
  const [record] = log.append([{ kind: 'note.added', by: 'test', data: { text } }])
  writeSync(1, `${record!.id}\n`)
}
