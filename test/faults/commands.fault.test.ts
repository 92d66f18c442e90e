import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLog } from '../../src/journal/read-log.ts'
import { isId } from '../../src/journal/ids.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'
import {
  type Fault,
  type SweepReport,
  type Verdict,
  type Workload,
  compileShim,
  sweep,
} from './sweep.ts'
import { WorldMaker } from './world-maker.ts'

const root = join(import.meta.dirname, '..', '..')
// Inside the project, so that it can resolve the SQLite package.
const tools = join(root, 'node_modules', '.cache', `stint-faults-${process.pid}`)
const program = join(tools, 'commands.workload.js')
const repository = join(temporaryFolder(), 'repository')
let shim: string

beforeAll(async () => {
  await build({
    input: join(import.meta.dirname, 'commands.workload.ts'),
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

const EDIT = 'A sentence that only the person wrote.'
const env = {
  STINT_STATE_HOME: join(temporaryFolder(), 'state'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
}
const FAULTS: Fault[] = ['kill', 'torn', 'short', 'ENOSPC', 'EIO']

/** A project in a subfolder, so that only Stint's writes are faulted and not git's. */
function workload(
  doing: string,
  before: readonly string[],
  options: { edit?: boolean } = {},
): Workload {
  const maker = new WorldMaker(program, before, env)
  return {
    env,
    // Runs asynchronously, so that the other half of the sweep continues.
    prepare: async (world) => {
      await cp(repository, world, { recursive: true })
      if (before.length === 0) return []
      const acknowledged = await maker.make(world)
      if (options.edit === true) editDocument(world)
      return acknowledged
    },
    done: () => maker.close(),
    argv: () => [process.execPath, program, doing],
    argvAfter: () => [process.execPath, program, 'on'],
    verify: (world, finished, stage) => {
      const { held, problems } = verdict(world, stage, options.edit === true)
      // A file that a killed process left stays and is orphaned.
      const isAlive = stage === 'faulted' && finished.signal !== 'SIGKILL'
      return { held, problems: [...(problems ?? []), ...(isAlive ? orphanedHandoffs(world) : [])] }
    },
  }
}

function editDocument(world: string): void {
  const active = join(world, '.sessions', 'active')
  const path = join(active, readdirSync(active)[0]!)
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('## Decisions', `## Mine\n${EDIT}\n\n## Decisions`),
  )
}

function verdict(world: string, stage: 'faulted' | 'after', isEdited: boolean): Verdict {
  const journal = join(world, '.sessions', 'journal')
  const ids = existsSync(journal) ? readdirSync(journal).filter(isId) : []
  const linked = join(world, '.git', 'stint', 'journal')
  const links = existsSync(linked)
    ? readdirSync(linked).filter((name) => name.endsWith('.jsonl'))
    : []
  const logs = [
    ...ids.map((id) => join(journal, id, 'log.jsonl')),
    ...links.map((name) => join(linked, name)),
  ].filter(existsSync)
  const held = logs.flatMap((log) => readLog(log).records.map((record) => record.id))
  const problems: string[] = []
  if (stage === 'after') {
    for (const folder of ids.map((id) => join(journal, id))) {
      const left = readdirSync(folder).filter((name) => name.startsWith('taken-'))
      if (left.length > 0) problems.push(`left behind: ${left.join(', ')}`)
    }
    const active = join(world, '.sessions', 'active')
    const documents = existsSync(active)
      ? readdirSync(active).filter((name) => !name.startsWith('.'))
      : []
    if (documents.length !== 1) problems.push(`there are ${documents.length} documents`)
    const text = documents.map((name) => readFileSync(join(active, name), 'utf8')).join('')
    if (!text.includes('And on')) problems.push('the document does not show the last entry')
    if (isEdited && text.split(EDIT).length !== 2)
      problems.push(`the edit is there ${text.split(EDIT).length - 1} times`)
  }
  return { held, problems }
}

/** Handoff files without an entry, which only a killed process may leave. */
function orphanedHandoffs(world: string): readonly string[] {
  const journal = join(world, '.sessions', 'journal')
  const folders = (existsSync(journal) ? readdirSync(journal).filter(isId) : []).map((id) =>
    join(journal, id),
  )
  return folders.flatMap((folder) => {
    const files = existsSync(join(folder, 'handoffs')) ? readdirSync(join(folder, 'handoffs')) : []
    const log = join(folder, 'log.jsonl')
    const made = existsSync(log)
      ? readLog(log).records.filter(({ kind }) => kind === 'handoff.made')
      : []
    const whole = files.filter((name) => /^\d+\.md$/.test(name))
    return whole.length > made.length ? [`a handoff that nobody made: ${whole.join(', ')}`] : []
  })
}

const COMMANDS: readonly [string, Workload][] = [
  ['init', workload('init', [])],
  ['log', workload('log', ['init'])],
  ['log with a document that a person edited', workload('log', ['init'], { edit: true })],
  ['handoff', workload('handoff', ['init', 'log'])],
  ['close', workload('close', ['init', 'log'])],
]

describe.each(COMMANDS)('%s', (name, faulted) => {
  let report: SweepReport
  beforeAll(async () => {
    report = await sweep(shim, faulted, FAULTS)
  }, 900_000)

  test('keeps acknowledged entries and a usable session after a fault at any call', () => {
    console.info(`${name}: ${report.calls.length} calls, ${report.runs.length} faulted runs`)
    expect(report.falseDone).toEqual([])
    expect(report.acknowledgedLost).toEqual([])
    expect(report.stuck).toEqual([])
    expect(report.unreadable).toEqual([])
  })

  test('never exits as a defect after a fault at any call', () => {
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
})
