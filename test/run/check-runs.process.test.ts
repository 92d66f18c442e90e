import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { mintId, randomHex } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { RunWorld, doing } from './run-world.ts'

interface Diagnosis {
  readonly isHealthy: boolean
  readonly checks: readonly {
    check: string
    status: string
    summary: string
    details: readonly string[]
  }[]
  readonly counts: { readonly damagedLines: number }
}

/** The real command line. */
function doctor(world: RunWorld) {
  const { stdout, status } = spawnSync(process.execPath, [findStintProgram(), 'doctor', '--json'], {
    cwd: world.project.root,
    encoding: 'utf8',
  })
  const diagnosis = JSON.parse(stdout) as Diagnosis
  const of = (name: string) => diagnosis.checks.find(({ check }) => check === name)!
  const worse = diagnosis.checks.filter((one) => one.status !== 'ok').map(({ check }) => check)
  return {
    ...diagnosis,
    status,
    logs: of('run logs'),
    runs: of('runs'),
    worktrees: of('worktrees'),
    worse,
  }
}

async function finishedRun() {
  const world = new RunWorld()
  await world.tasks('One')
  const { run } = await world.run()
  const log = world.project.path('.sessions', 'runs', run, 'log.jsonl')
  return { world, run, log, link: world.project.path('.git', 'stint', 'runs', `${run}.jsonl`) }
}

/** A run that parked a task and so left its worktree. */
async function waitingRun() {
  const world = new RunWorld()
  await world.tasks('Hard', 'Easy')
  const { run, branch } = await world.run({
    script: world.script({ hard: [[{ failed: 'too hard' }]], easy: [doing('easy')] }),
  })
  const { tree } = world.logged('run.started')[0]!.data as { tree: string }
  return { world, run, branch: branch!, tree }
}

test('doctor reports no problem for a finished run', async () => {
  const { world } = await finishedRun()
  const { isHealthy, status, logs, worse } = doctor(world)
  expect([isHealthy, status, worse]).toEqual([true, 0, []])
  expect(logs.summary).toBe('1 log read whole, none damaged')
})

test('reports damaged lines in a run log as a problem and keeps them', async () => {
  const { world, run, log } = await finishedRun()
  appendFileSync(log, '\n{"v":1,"torn')
  const before = readFileSync(log)
  const { status, logs, counts } = doctor(world)
  expect([status, logs.status, counts.damagedLines]).toEqual([1, 'problem', 1])
  expect(logs.details[0]).toMatch(
    new RegExp(`runs/${run}/log\\.jsonl:\\d+ torn or not JSON: .*torn`),
  )
  expect(readFileSync(log)).toEqual(before)
})

test('reports a damaged claim as a note only', async () => {
  const { world } = await finishedRun()
  appendFileSync(world.project.path('.git', 'stint', 'runs', 'claims.jsonl'), '\n{"v":1,"torn')
  const { status, logs, counts } = doctor(world)
  expect([status, logs.status, counts.damagedLines]).toEqual([0, 'note', 1])
})

test('reports a run whose first entry cannot be read as a problem', async () => {
  const { world, log } = await finishedRun()
  writeFileSync(log, readFileSync(log, 'utf8').replace('run.started', 'run.stxrted'))
  const { logs } = doctor(world)
  expect(logs.status).toBe('problem')
  expect(logs.details.join()).toContain('the entry that began it cannot be read')
})

test('restores the second name of a run log', async () => {
  const { world, log, link } = await finishedRun()
  unlinkSync(log)
  expect(doctor(world).logs).toMatchObject({
    status: 'note',
    details: [expect.stringContaining('is back')],
  })
  expect(statSync(log).ino).toBe(statSync(link).ino)
  unlinkSync(link)
  expect(doctor(world).logs).toMatchObject({
    status: 'note',
    details: [expect.stringContaining('has it again')],
  })
  copyFileSync(link, `${link}.copy`)
  renameSync(`${link}.copy`, link)
  expect(doctor(world).logs).toMatchObject({
    status: 'note',
    details: [expect.stringContaining('different files')],
  })
  expect(statSync(log).ino).toBe(statSync(link).ino)
  expect(doctor(world).worse).toEqual([])
})

test('reports a run without a log, but not one killed before its first entry', async () => {
  const { world, log, link } = await finishedRun()
  unlinkSync(log)
  unlinkSync(link)
  expect(doctor(world).logs).toMatchObject({
    status: 'problem',
    details: [expect.stringContaining('its log is gone')],
  })
  rmSync(join(log, '..'), { recursive: true })
  mkdirSync(world.project.path('.sessions', 'runs', mintId(undefined)))
  expect(doctor(world).worse).toEqual([])
  await world.tasks('Two')
  expect((await world.run()).how).toBe('finished')
})

test('reports a run whose runner was killed, with the command that resumes it', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({ one: [[{ run: 'sleep 987' }, ...doing('one')]] })
  const child = spawn(
    process.execPath,
    [findStintProgram(), 'run', '--json', '--harness', 'rehearsal', '--script', script],
    {
      cwd: world.project.root,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let whileItRuns: ReturnType<typeof doctor> | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    if ((JSON.parse(line) as { kind: string }).kind !== 'tool' || whileItRuns !== undefined)
      continue
    whileItRuns = doctor(world)
    child.kill('SIGKILL')
  }
  await exited
  const [run] = world.runs()
  await expectNoneLeft(`STINT_RUN=${run}`)
  expect(whileItRuns!.runs).toMatchObject({ status: 'ok', summary: '1 run going on, none cut off' })
  expect(whileItRuns!.worktrees.status).toBe('ok')

  const { runs, worktrees, status } = doctor(world)
  expect([status, runs.status]).toEqual([0, 'note'])
  expect(runs.details).toEqual([
    `run ${run!.slice(-6)}: its process ${child.pid} is gone in the middle of 1 attempt; go on with: stint run --resume ${run!.slice(-6)}`,
  ])
  expect(worktrees.details[0]).toContain(`stint run --resume ${run!.slice(-6)} goes on in it`)
})

test('reports an agent process that outlived its run as a problem', async () => {
  const { world, run } = await finishedRun()
  const mark = randomHex(16)
  const child = spawn('sleep', ['60'], {
    env: { ...process.env, STINT_MARK: mark },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { paths, config } = new Workspace(world.project.root)
  const log = new RunLog(paths, run, config)
  const stray = { pid: child.pid!, startedAt: processStartTime(child.pid!), mark }
  log.append('conversation.opened', { number: 9, session: 'none', process: stray, setup: 0 })
  log.close()
  await expect.poll(() => readFileSync(`/proc/${child.pid}/environ`, 'latin1')).toContain(mark)
  expect(doctor(world).runs).toMatchObject({
    status: 'problem',
    details: [
      `run ${run.slice(-6)}: process ${child.pid} of its agent is still there; end it with: kill ${child.pid}`,
    ],
  })
})

test('describes a worktree a run left; the printed command removes it and keeps the branch', async () => {
  const { world, run, branch, tree } = await waitingRun()
  const { worktrees, status } = doctor(world)
  expect([status, worktrees.status]).toEqual([0, 'note'])
  const [detail] = worktrees.details
  expect(detail).toContain(
    `${tree} of run ${run.slice(-6)}: nothing uncommitted, 1 commit on ${branch}; take it away with: `,
  )
  expect(existsSync(tree)).toBe(true)
  const command = /take it away with: (git worktree remove \S+)/.exec(detail!)![1]!
  world.project.git(...command.split(' ').slice(1))
  expect(existsSync(tree)).toBe(false)
  expect(world.subjects(branch)).toEqual(['do easy'])
  expect(doctor(world).worktrees.status).toBe('ok')
})

test('lists the uncommitted files of a worktree a run left, and touches none of them', async () => {
  const { world, tree } = await waitingRun()
  for (let number = 1; number <= 7; number += 1)
    writeFileSync(join(tree, `loose-${number}.txt`), 'loose\n')
  const before = readdirSync(tree)
  const [detail] = doctor(world).worktrees.details
  expect(detail).toContain(
    'not committed: loose-1.txt, loose-2.txt, loose-3.txt, loose-4.txt, loose-5.txt and 2 more',
  )
  expect(detail).toContain(`commit what is wanted (git -C ${tree} status)`)
  expect(readdirSync(tree)).toEqual(before)
})

test('asks to create a branch first for worktree commits that are on no branch', async () => {
  const { world, tree } = await waitingRun()
  world.project.git('-C', tree, 'switch', '--quiet', '--detach')
  expect(doctor(world).worktrees.details[0]).toContain(
    `give its commits a branch first: git -C ${tree} switch -c NAME`,
  )
})

test('also reports a worktree of an unknown run, and only points at one unknown to git', async () => {
  const { world, run, tree } = await waitingRun()
  unlinkSync(world.project.path('.git', 'stint', 'runs', `${run}.jsonl`))
  rmSync(world.project.path('.sessions', 'runs'), { recursive: true })
  mkdirSync(join(tree, '..', 'run-abcdef'))
  const { details } = doctor(world).worktrees
  const about = (path: string) => details.find((line) => line.startsWith(path))
  expect(details).toHaveLength(2)
  expect(about(join(tree, '..', 'run-abcdef'))).toMatch(
    /: no worktree of this repository any more; look into it$/,
  )
  expect(about(tree)).toMatch(
    / of a run that is not known here: nothing uncommitted; take it away with: git worktree remove /,
  )
})
