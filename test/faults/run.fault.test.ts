import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isId } from '../../src/journal/ids.ts'
import { readLog } from '../../src/journal/read-log.ts'
import type { RunEntry } from '../../src/run/entries.ts'
import { foldRun } from '../../src/run/run-state.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'
import {
  type Fault,
  type SweepReport,
  type Verdict,
  type Workload,
  compileShim,
  sweep,
} from './sweep.ts'

const root = join(import.meta.dirname, '..', '..')
// Inside the project, so that it can resolve the SQLite package.
const tools = join(root, 'node_modules', '.cache', `stint-run-faults-${process.pid}`)
const program = join(tools, 'run.workload.js')
const execute = promisify(execFile)
const FAULTS: Fault[] = ['kill', 'torn', 'short', 'ENOSPC', 'EIO']
const env = {
  STINT_STATE_HOME: join(temporaryFolder(), 'state'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
}

/** Every world is a copy of one: a run with a session for its one task, for which the agent has committed something. */
const begun = join(tools, 'begun')
let acknowledged: readonly string[]

function beginOnce(): void {
  initRepository(begun)
  commit(begun, 'code.txt')
  const options = { cwd: begun, env: { ...process.env, ...env }, encoding: 'utf8' as const }
  const output = execFileSync(process.execPath, [program, 'begin'], options)
  commit(begun, 'one.txt')
  acknowledged = [...output.matchAll(/^ack (\S+)$/gm)].map((match) => match[1]!)
}

const WORKLOAD: Workload = {
  env,
  prepare: async (world) => {
    // Preserves the hard links between the names of a log.
    await execute('cp', ['-a', `${begun}/.`, world])
    return acknowledged
  },
  // The index is a view, and is faulted in the sweep of commands.
  except: '/index.db',
  argv: () => [process.execPath, program, 'work'],
  argvAfter: () => [process.execPath, program, 'on'],
  verify: (world, _finished, stage) => verdict(world, stage),
}

function commit(world: string, name: string): void {
  writeFileSync(join(world, name), `${name}\n`)
  git(world, 'add', name)
  git(world, 'commit', '-qm', name)
}

function verdict(world: string, stage: 'faulted' | 'after'): Verdict {
  const run = logsIn(world, 'runs')
  const journal = logsIn(world, 'journal')
  const state = foldRun(run.map((record) => record as unknown as RunEntry))
  const problems: string[] = []
  if (state === undefined) problems.push('the log of the run does not fold')
  // An entry that is written again has the same `once`, so that it counts once.
  const closings = new Set(
    journal
      .filter(({ kind, data }) => kind === 'task.moved' && data['status'] === 'completed')
      .map(({ once }) => once),
  )
  const outcomes = (state?.attempts ?? []).map(({ outcome }) => outcome)
  if (outcomes.includes('done') && closings.size === 0)
    problems.push('an attempt is called done and its task is open')
  if (stage === 'after') {
    if (closings.size !== 1) problems.push(`the task was closed ${closings.size} times`)
    if (outcomes.filter((outcome) => outcome === 'done').length !== 1)
      problems.push(`the attempts ended as ${outcomes.join(', ')}`)
    if (outcomes.includes(undefined)) problems.push('an attempt has no outcome')
    if (state?.ended !== 'finished') problems.push('the run has not ended')
  }
  return { held: [...run, ...journal].map(({ id }) => id), problems }
}

/** The entries of the logs under either of their names. */
function logsIn(world: string, kind: 'runs' | 'journal') {
  const folder = join(world, '.sessions', kind)
  const links = join(world, '.git', 'stint', kind)
  const paths = [
    ...readdirSync(folder)
      .filter(isId)
      .map((id) => join(folder, id, 'log.jsonl')),
    ...readdirSync(links)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(links, name)),
  ]
  const records = paths.filter((path) => existsSync(path)).flatMap((path) => readLog(path).records)
  return [...new Map(records.map((record) => [record.id, record])).values()]
}

let report: SweepReport

beforeAll(async () => {
  await build({
    input: join(import.meta.dirname, 'run.workload.ts'),
    platform: 'node',
    external: ['@photostructure/sqlite'],
    output: { dir: tools, format: 'esm' },
    logLevel: 'warn',
    checks: { ineffectiveDynamicImport: false },
  })
  beginOnce()
  report = await sweep(compileShim(tools), WORKLOAD, FAULTS)
}, 900_000)
afterAll(() => rmSync(tools, { recursive: true, force: true }))

test('a fault at any call while closing a task loses nothing, and the resumed run closes it once', () => {
  console.info(`${report.calls.length} calls, ${report.runs.length} faulted runs`)
  expect(report.falseDone).toEqual([])
  expect(report.acknowledgedLost).toEqual([])
  expect(report.stuck).toEqual([])
  expect(report.unreadable).toEqual([])
})

test('a runner that faults at any call never exits as a defect', () => {
  const ends = report.runs.map(({ fault, at, call, faulted: { code, signal, stderr } }) => ({
    fault,
    at,
    call: call.name,
    path: call.path,
    code,
    signal,
    stderr,
  }))
  expect(
    ends.filter(({ code, signal }) => signal !== 'SIGKILL' && ![0, 3].includes(code ?? -1)),
  ).toEqual([])
})

test('every call was faulted', () => {
  const calls = report.calls.filter(({ name }) => name !== 'ack')
  expect(calls.length).toBeGreaterThan(40)
  expect(
    report.runs.filter(({ fault, faulted }) => fault === 'kill' && faulted.signal === 'SIGKILL'),
  ).toHaveLength(calls.length)
})
