// A child process of the tests with several: opens the index of a project, syncs it as often as it
// is told, and prints its contents.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openIndex } from '../../src/index/open-index.ts'

const [project = '', times = '1'] = process.argv.slice(2)
const folder = join(project, '.sessions')
const reported: string[] = []
const index = await openIndex(
  {
    folder,
    keyPath: join(project, 'index-key'),
    prepare: () => mkdirSync(folder, { recursive: true }),
    project,
    sessionIds: () => readdirSync(join(folder, 'journal')),
    log: (id) => ({ path: join(folder, 'journal', id, 'log.jsonl') }),
  },
  { report: (line) => reported.push(line) },
)
for (let n = 1; n < Number(times); n += 1) index.sync({ full: n % 10 === 0 })
const { differing, damage } = index.verify()
console.log(JSON.stringify({ reported: reported, counts: index.counts(), differing, damage }))
index.close()
