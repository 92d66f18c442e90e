import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isId } from '../../src/journal/ids.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'
import { type Fault, type SweepReport, type Workload, compileShim, sweep } from './sweep.ts'
import { WorldMaker } from './world-maker.ts'

const root = join(import.meta.dirname, '..', '..')
const tools = join(root, 'node_modules', '.cache', `stint-hook-faults-${process.pid}`)
const program = join(tools, 'hooks.workload.js')
const repository = join(temporaryFolder(), 'repository')
const env = {
  STINT_STATE_HOME: join(temporaryFolder(), 'state'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
}
const FAULTS: Fault[] = ['kill', 'torn', 'ENOSPC', 'EIO', 'full', 'read-only']
let shim: string

beforeAll(async () => {
  await build({
    input: join(import.meta.dirname, 'hooks.workload.ts'),
    platform: 'node',
    external: ['@photostructure/sqlite'],
    output: { dir: tools, format: 'esm' },
    logLevel: 'warn',
    checks: { ineffectiveDynamicImport: false },
  })
  shim = compileShim(tools)
  mkdirSync(repository, { recursive: true })
  initRepository(repository)
  writeFileSync(join(repository, 'code.txt'), 'code\n')
  git(repository, 'add', '.')
  git(repository, 'commit', '-qm', 'start')
})
afterAll(() => rmSync(tools, { recursive: true, force: true }))

function workload(doing: string, before: readonly string[]): Workload {
  const maker = new WorldMaker(program, before, env)
  return {
    env,
    // Runs asynchronously, so that the other half of the sweep continues.
    prepare: async (world) => {
      await cp(repository, world, { recursive: true })
      return before.length === 0 ? [] : maker.make(world)
    },
    done: () => maker.close(),
    argv: () => [process.execPath, program, doing],
    argvAfter: () => [process.execPath, program, 'on'],
    verify: (world) => {
      const journal = join(world, '.sessions', 'journal')
      const ids = existsSync(journal) ? readdirSync(journal).filter(isId) : []
      const held = ids.flatMap((id) => {
        const log = join(journal, id, 'log.jsonl')
        return existsSync(log) ? readLog(log).records.map((record) => record.id) : []
      })
      const sessions = ids.filter((id) => existsSync(join(journal, id, 'log.jsonl'))).length
      return { held, problems: sessions > 1 ? [`${sessions} sessions were opened`] : [] }
    },
  }
}

const HOOKS: readonly [string, Workload][] = [
  ['the first edit, which opens a session', workload('edit', [])],
  ['an edit in a session', workload('edit', ['init'])],
  ['the end of a turn', workload('stop', ['init'])],
]

describe.each(HOOKS)('a hook at %s', (name, faulted) => {
  let report: SweepReport
  beforeAll(async () => {
    report = await sweep(shim, faulted, FAULTS)
  }, 900_000)

  test('exits cleanly, loses nothing, and lets the next hook continue after a fault at any call', () => {
    console.info(`${name}: ${report.calls.length} calls, ${report.runs.length} faulted runs`)
    const ends = report.runs.map(({ fault, at, call, faulted: { code, signal, stderr } }) => ({
      fault,
      at,
      call: call.name,
      code,
      signal,
      stderr,
    }))
    expect(ends.filter(({ code, signal }) => signal !== 'SIGKILL' && code !== 0)).toEqual([])
    expect(report.falseDone).toEqual([])
    expect(report.acknowledgedLost).toEqual([])
    expect(report.stuck).toEqual([])
    expect(report.unreadable).toEqual([])
  })
})
