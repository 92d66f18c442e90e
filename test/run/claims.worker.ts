// One of several runs that claim the same tasks. Prints the ones it got and lives until stopped, because a claim holds only
// while its process lives.
import { createInterface } from 'node:readline'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { Claims } from '../../src/run/loop/claims.ts'

const [folder, run, count] = process.argv.slice(2) as [string, string, string]
const claims = new Claims(findProjectPaths(folder), run, {
  pid: process.pid,
  startedAt: processStartTime(process.pid),
  mark: '',
})
process.stdout.write('here\n')
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'go') break
  const tasks = Array.from({ length: Number(count) }, (_, number) => `task-${number}`)
  process.stdout.write(`${JSON.stringify(tasks.filter((task) => claims.claim(task)))}\n`)
}
