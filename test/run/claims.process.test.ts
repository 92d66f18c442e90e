import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { Claims } from '../../src/run/loop/claims.ts'
import { bundleProgram } from '../support/bundle.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

const RUNS = 4
const TASKS = 50

async function world() {
  const folder = scratchFolder()
  const root = join(folder, 'project')
  initRepository(root)
  mkdirSync(join(root, '.sessions'))
  const program = join(folder, 'claims.worker.mjs')
  await bundleProgram(fileURLToPath(new URL('claims.worker.ts', import.meta.url)), program)
  return { root, program, log: join(root, '.git', 'stint', 'runs', 'claims.jsonl') }
}

function start(program: string, root: string, name: string) {
  const child: ChildProcess = spawn(process.execPath, [program, root, name, String(TASKS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const exited = new Promise((resolve) => child.once('exit', resolve))
  return {
    next: async () => (await lines.next()).value as string,
    say: (word: string) => child.stdin!.write(`${word}\n`),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The unreleased claims, by task. */
function standing(log: string): Readonly<Record<string, readonly string[]>> {
  const claims: Record<string, string[]> = {}
  for (const { kind, data } of readLog(log).records) {
    const { task, run } = data as { task: string; run: string }
    claims[task] = (claims[task] ?? []).filter((other) => other !== run)
    if (kind === 'task.claimed') claims[task].push(run)
  }
  return claims
}

test('four runs claiming the same fifty tasks at once get each task once and leave no other claim', async () => {
  const { root, program, log } = await world()
  const runs = Array.from({ length: RUNS }, (_, number) => start(program, root, `run-${number}`))
  for (const run of runs) expect(await run.next()).toBe('here')
  for (const run of runs) run.say('go')
  const taken = await Promise.all(runs.map(async (run) => JSON.parse(await run.next()) as string[]))
  const all = taken.flat()
  expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
  expect(all).toHaveLength(TASKS)
  const { damage } = readLog(log)
  expect(damage).toEqual([])
  const holders = Object.fromEntries(
    taken.flatMap((tasks, number) => tasks.map((task) => [task, [`run-${number}`]])),
  )
  expect(standing(log)).toEqual(holders)
  for (const run of runs) await run.kill()
})

test('another run can take over the claims of a killed run, but not of a live one', async () => {
  const { root, program } = await world()
  const first = start(program, root, 'run-first')
  await first.next()
  first.say('go')
  expect(JSON.parse(await first.next())).toHaveLength(TASKS)
  const claims = new Claims(findProjectPaths(root), 'run-second', {
    pid: process.pid,
    startedAt: processStartTime(process.pid),
    mark: '',
  })
  expect(claims.claim('task-7')).toBe(false)
  await first.kill()
  expect(claims.claim('task-7')).toBe(true)
  claims.releaseAll()
})
