// A child process of the tests with several: opens the index of a project, syncs it the given number of times, and prints its contents. It
// kills itself when a session's log is requested for the `killAt`th time.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openIndex } from '../../src/index/open-index.ts'

const [project = '', times = '1', killAt] = process.argv.slice(2)
const folder = join(project, '.sessions')
const reported: string[] = []
let requested = 0
const index = await openIndex(
  {
    folder,
    keyPath: join(project, 'index-key'),
    prepare: () => mkdirSync(folder, { recursive: true }),
    project,
    sessionIds: () => readdirSync(join(folder, 'journal')),
    log: (id) => {
      requested += 1
      if (requested === Number(killAt)) process.kill(process.pid, 'SIGKILL')
      return { path: join(folder, 'journal', id, 'log.jsonl') }
    },
  },
  { report: (line) => reported.push(line) },
)
for (let n = 1; n < Number(times); n += 1) index.sync({ full: n % 10 === 0 })
const { differing, damage } = index.verify()
console.log(JSON.stringify({ reported: reported, counts: index.counts(), differing, damage }))
index.close()
