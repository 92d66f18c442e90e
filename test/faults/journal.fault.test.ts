import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Log, type RecordDraft } from '../../src/journal/log.ts'
import { bundleProgram } from '../support/bundle.ts'
import { initRepository, temporaryFolder } from '../support/scratch.ts'
import {
  FAULTS,
  type Fault,
  type Finished,
  type SweepReport,
  type Verdict,
  type Workload,
  compileShim,
  sweep,
  traced,
  unsyncedAtAcknowledgement,
} from './sweep.ts'

const tools = temporaryFolder()
const program = join(tools, 'workload.mjs')
let shim: string

beforeAll(async () => {
  shim = compileShim(tools)
  await bundleProgram(join(import.meta.dirname, 'journal.workload.ts'), program)
})
afterAll(() => rmSync(tools, { recursive: true, force: true }))

const logPathsIn = (world: string) => ({
  path: join(world, '.sessions/journal/1/log.jsonl'),
  link: join(world, '.git/stint/1/log.jsonl'),
})

const NEW_LOG: Workload = {
  prepare: (world) => initRepository(world),
  argv: (world) => argv(world, 'first'),
  argvAfter: (world) => argv(world, 'second'),
  verify,
}

const OPEN_LOG: Workload = { ...NEW_LOG, prepare: (world) => openLog(world).map(({ id }) => id) }

const REMOVED_FOLDER: Workload = {
  ...NEW_LOG,
  prepare: (world) => {
    const records = openLog(world)
    rmSync(join(world, '.sessions'), { recursive: true })
    return records.map(({ id }) => id)
  },
}

const REPLACED_LOG: Workload = {
  ...NEW_LOG,
  prepare: (world) => {
    initRepository(world)
    const { path } = logPathsIn(world)
    const log = new Log(logPathsIn(world))
    const before = log.create([note('before')])
    copyFileSync(path, join(world, 'copy'))
    const since = log.append([note('since'), note('since then')])
    log.close()
    appendFileSync(path, 'half a rec')
    renameSync(join(world, 'copy'), path)
    return [...before, ...since].map(({ id }) => id)
  },
}

const EVERY = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== 'EPERM')
const HARDEST: Fault[] = ['kill', 'torn', 'short', 'split', 'EIO', 'full', 'read-only']
const WORLDS: readonly [string, Workload, Fault[]][] = [
  ['a log that is created and written', NEW_LOG, EVERY],
  ['a log that is written', OPEN_LOG, HARDEST],
  ['a log whose folder was removed', REMOVED_FOLDER, HARDEST],
  ['a log that was replaced by an old copy', REPLACED_LOG, HARDEST],
]

describe.each(WORLDS)('%s', (_name, workload, faults) => {
  let report: SweepReport
  beforeAll(async () => {
    report = await sweep(shim, workload, faults)
  }, 600_000)

  test('keeps every acknowledged entry after a fault at any call', () => {
    expect(report.falseDone).toEqual([])
    expect(report.acknowledgedLost).toEqual([])
  })

  test('is never stuck: the next process saves the failed entry exactly once', () => {
    expect(report.stuck).toEqual([])
    expect(report.unreadable).toEqual([])
  })

  test('reports every fragment that a fault left as damage', () => {
    const torn = report.runs.filter(
      ({ fault, call }) =>
        ['torn', 'short', 'split'].includes(fault) && call.path.endsWith('/log.jsonl'),
    )
    expect(torn.length).toBeGreaterThan(5)
    expect(
      torn.flatMap(({ fault, at, damaged }) => (damaged === 0 ? [`${fault} at ${at}`] : [])),
    ).toEqual([])
  })

  test('resolves a sync that fails once by writing a second copy', () => {
    const opened = report.calls.findIndex(({ name }) => name === 'ack')
    const unsynced = report.runs.filter(
      ({ fault, call, at }) => fault === 'EIO' && call.name === 'fdatasync' && at > opened,
    )
    expect(unsynced.length).toBeGreaterThan(3)
    expect(unsynced.map(({ faulted }) => faulted.code)).toEqual(unsynced.map(() => 0))
  })

  test('was faulted at every call', () => {
    const calls = report.calls.filter(({ name }) => name !== 'ack')
    expect(report.runs.filter(({ fault }) => fault === 'kill')).toHaveLength(calls.length)
    expect(
      report.runs.filter(({ fault, faulted }) => fault === 'kill' && faulted.signal !== 'SIGKILL'),
    ).toEqual([])
    console.info(`${calls.length} calls, ${report.runs.length} faulted runs`)
  })

  test('ends with a named error, never with a defect', () => {
    const ends = report.runs.map(({ fault, at, faulted: { code, signal, stderr } }) => ({
      fault,
      at,
      code,
      signal,
      stderr,
    }))
    expect(
      ends.filter(({ code, signal }) => signal !== 'SIGKILL' && ![0, 3, 4].includes(code ?? -1)),
    ).toEqual([])
  })
})

test('a log works where there are no hard links', async () => {
  const report = await sweep(shim, NEW_LOG, ['EPERM'])
  expect([report.falseDone, report.acknowledgedLost, report.stuck, report.unreadable]).toEqual([
    [],
    [],
    [],
    [],
  ])
  const links = report.runs.filter(({ call }) => call.name === 'link')
  expect(links.length).toBeGreaterThan(1)
  expect(links.filter(({ faulted }) => faulted.code !== 0)).toEqual([])
})

describe('an acknowledgement', () => {
  test.each(WORLDS)('%s leaves no byte and no name unsynced', async (_name, workload) => {
    const { calls } = await traced(shim, workload)
    expect(calls.filter(({ name }) => name === 'ack').length).toBeGreaterThan(5)
    expect(unsyncedAtAcknowledgement(calls)).toEqual([])
  })

  test('an append to an open log costs one write and one sync', async () => {
    const { calls } = await traced(shim, OPEN_LOG)
    const perAppend = calls
      .slice(
        0,
        calls.findIndex(({ name }) => name === 'ack'),
      )
      .map(({ name }) => name)
    expect(perAppend).toEqual(['write', 'fdatasync'])
  })
})

function note(text: string): RecordDraft {
  return { kind: 'note.added', by: 'test', data: { text } }
}

function openLog(world: string) {
  initRepository(world)
  const log = new Log(logPathsIn(world))
  const records = log.create([note('before')])
  log.close()
  return records
}

function argv(world: string, name: string): readonly string[] {
  const { path, link } = logPathsIn(world)
  return [process.execPath, program, path, link, join(dirname(world), 'unsaved.json'), name]
}

function verify(world: string, finished: Finished, stage: 'faulted' | 'after'): Verdict {
  const log = new Log(logPathsIn(world))
  const problems: string[] = []
  if (!log.exists()) return { held: [] }
  const { records, damage } = log.read()
  log.close()
  const texts = records.map(({ data }) => String(data['text']))
  const doubled = texts.filter((text, index) => texts.indexOf(text) !== index)
  if (doubled.length > 0) problems.push(`recorded twice: ${doubled.join(', ')}`)
  for (const { reason } of damage) {
    if (reason !== 'torn or not JSON' && reason !== 'checksum does not match')
      problems.push(`damage is called ${reason}`)
  }
  if (finished.code === 3 && stage === 'faulted') {
    const unsaved = JSON.parse(readFileSync(join(dirname(world), 'unsaved.json'), 'utf8')) as {
      id: string
    }[]
    const found = unsaved.filter(({ id }) => records.some((record) => record.id === id))
    if (found.length > 0) problems.push('what is said not to be saved is there')
  }
  if (stage === 'after') {
    const folders = [dirname(logPathsIn(world).path), dirname(logPathsIn(world).link)]
    const names = folders
      .flatMap((folder) => readdirSync(folder))
      .filter((name) => name.endsWith('.jsonl'))
    if (names.length !== 2) problems.push(`the names are ${names.join(', ')}`)
  }
  return { held: records.map(({ id }) => id), damaged: damage.length, problems }
}
