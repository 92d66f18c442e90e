import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { JournalMissing, NotWritten, OutcomeUnknown } from '../../src/journal/errors.ts'
import { isId } from '../../src/journal/ids.ts'
import { Log, type LogPaths, type RecordDraft } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import { scratchFolder } from '../support/scratch.ts'

const note = (text: string, extra: Partial<RecordDraft> = {}): RecordDraft => ({
  kind: 'note.added',
  by: 'test',
  data: { text },
  ...extra,
})

function linkedPaths(): Required<Pick<LogPaths, 'path' | 'ownMark'>> & { link: string } {
  const folder = scratchFolder()
  return {
    path: join(folder, 'work/log.jsonl'),
    link: join(folder, 'git/stint/log.jsonl'),
    ownMark: join(folder, 'state/own'),
  }
}

function textsIn(path: string): unknown[] {
  return readLog(path).records.map((record) => record.data['text'])
}

describe('an append', () => {
  test('that cannot be written throws NotWritten with the records', () => {
    const error = failureOf(() => new Log({ path: '/dev/full' }).append([note('a')]))
    expect(error).toBeInstanceOf(NotWritten)
    expect(error).toMatchObject({
      code: 'NOT_WRITTEN',
      path: '/dev/full',
      hint: expect.stringContaining('full'),
      records: [{ data: { text: 'a' } }],
    })
  })

  test('that cannot be synced throws OutcomeUnknown with the records', () => {
    // A device accepts the bytes and refuses the sync.
    const error = failureOf(() => new Log({ path: '/dev/null' }).append([note('a'), note('b')]))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect((error as OutcomeUnknown).records.map(({ data }) => data['text'])).toEqual(['a', 'b'])
  })

  test('retried with the records of a failed one never duplicates', () => {
    const { path } = linkedPaths()
    const log = new Log({ path })
    log.create([note('first')])
    const { records } = failureOf(() =>
      new Log({ path: '/dev/null' }).append([note('again')]),
    ) as OutcomeUnknown
    for (let time = 0; time < 3; time += 1) expect(log.append(records)).toEqual(records)
    const contents = log.read()
    expect(contents.records.map(({ data }) => data['text'])).toEqual(['first', 'again'])
    expect(contents.damage).toEqual([])
  })

  test('repeated with the same id and no time writes the same entry', () => {
    const { path } = linkedPaths()
    let now = Date.UTC(2026, 0, 1)
    const log = new Log({ path }, { now: () => (now += 1000) })
    log.create([note('first')])
    const id = '0190a000-0000-7000-8000-000000000001'
    log.append([note('again', { id })])
    log.append([note('again', { id })])
    expect(textsIn(path)).toEqual(['first', 'again'])
    expect(readLog(path).damage).toEqual([])
  })

  test('to a missing log throws JournalMissing and creates nothing', () => {
    const paths = linkedPaths()
    expect(failureOf(() => new Log(paths).append([note('a')]))).toBeInstanceOf(JournalMissing)
    expect(failureOf(() => new Log(paths).read())).toBeInstanceOf(JournalMissing)
    expect(new Log(paths).exists()).toBe(false)
    expect(existsSync(paths.path)).toBe(false)
  })

  test('after a torn record starts on a new line', () => {
    const { path } = linkedPaths()
    const log = new Log({ path })
    log.create([note('first')])
    appendFileSync(
      path,
      encodeRecord({ id: 'x', at: '', kind: 'k', by: 'b', data: {} }).subarray(0, 20),
    )
    log.append([note('second')])
    const contents = readLog(path)
    expect(contents.records.map(({ data }) => data['text'])).toEqual(['first', 'second'])
    expect(contents.damage.map(({ reason }) => reason)).toEqual(['torn or not JSON'])
  })
})

describe('the id of an append', () => {
  const HOUR = 3_600_000

  test('is larger than the id of a process whose clock is ahead', () => {
    const { path } = linkedPaths()
    const now = Date.UTC(2026, 0, 1)
    const behind = new Log({ path }, { now: () => now })
    const ahead = new Log({ path }, { now: () => now + HOUR })
    behind.create([note('0')])
    for (let n = 1; n <= 20; n += 1) (n % 2 === 0 ? behind : ahead).append([note(String(n))])
    expectIdsToRise(path, 21)
  })

  test('moves on from an id that is ten years ahead, while the time stays that of the clock', () => {
    const { path } = linkedPaths()
    const now = Date.UTC(2026, 0, 1)
    new Log({ path }, { now: () => Date.UTC(2036, 0, 1) }).create([note('ahead')])
    const log = new Log({ path }, { now: () => now })
    const { lastId } = (log.read(), log)
    const id = log.mint()
    const [minted] = log.append([note('minted before', { id })])
    const [plain] = log.append([note('plain')])
    expect([minted!.at, plain!.at]).toEqual(Array(2).fill('2026-01-01T00:00:00.000Z'))
    expect([lastId, minted!.id, plain!.id].toSorted()).toEqual([lastId, minted!.id, plain!.id])
    expect(new Set([lastId, id, plain!.id].map((each) => each!.slice(0, 13))).size).toBe(1)
    expect(log.append([note('minted before', { id })])).toEqual([minted])
  })

  test('is larger than every id in the log when a new process starts with the clock set back', () => {
    const { path } = linkedPaths()
    new Log({ path }, { now: () => Date.UTC(2026, 0, 2) }).create([note('a'), note('b')])
    new Log({ path }, { now: () => Date.UTC(2026, 0, 1) }).append([note('c'), note('d')])
    expectIdsToRise(path, 4)
  })

  test('is larger than the id of a last record that is longer than the tail read', () => {
    const { path } = linkedPaths()
    new Log({ path }, { now: () => Date.UTC(2026, 0, 2) }).create([
      note('a'),
      note('x'.repeat(900_000)),
    ])
    new Log({ path }, { now: () => Date.UTC(2026, 0, 1) }).append([note('c')])
    expectIdsToRise(path, 3)
  })

  test('is larger than a known id passed in', () => {
    const { path } = linkedPaths()
    const log = new Log({ path })
    log.create([note('a')])
    log.sawId('ff00a000-0000-7000-8000-000000000001')
    expect(log.append([note('b')])[0]!.id > 'ff00a000-0000-7000-8000-000000000001').toBe(true)
  })

  test('keeps rising beside ids in another format', () => {
    const { path } = linkedPaths()
    new Log({ path }, { now: () => Date.UTC(2026, 0, 2) }).create([note('a')])
    const log = new Log({ path }, { now: () => Date.UTC(2026, 0, 1) })
    log.append([note('b', { id: 'zzz' })])
    const [first] = log.read().records
    const [third] = log.append([note('c')])
    expect(isId(third!.id) && third!.id > first!.id).toBe(true)
  })

  function expectIdsToRise(path: string, count: number) {
    const ids = readLog(path).records.map(({ id }) => id)
    expect(ids).toHaveLength(count)
    expect(ids).toEqual(ids.toSorted())
  }
})

describe('a new log', () => {
  test('has its first records and its hard link from the start', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a'), note('b')])
    expect(textsIn(paths.path)).toEqual(['a', 'b'])
    expect(statSync(paths.link).ino).toBe(statSync(paths.path).ino)
    expect(readdirSync(join(paths.path, '..'))).toEqual(['log.jsonl'])
  })

  test('is refused where a log exists, and leaves that one unchanged', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    expect(failureOf(() => new Log(paths).create([note('b')]))).toBeInstanceOf(NotWritten)
    expect(textsIn(paths.path)).toEqual(['a'])
  })

  test('is refused where only the hard link of a log is left, and restores that log', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    rmSync(join(paths.path, '..'), { recursive: true })
    expect(failureOf(() => new Log(paths).create([note('b')]))).toBeInstanceOf(NotWritten)
    expect(textsIn(paths.path)).toEqual(['a'])
  })

  test('works without a hard link where the two folders are on different disks', () => {
    const folder = scratchFolder()
    const paths = {
      path: join(folder, 'log.jsonl'),
      link: `/dev/shm/stint-test-${process.pid}/log.jsonl`,
      ownMark: join(folder, 'own'),
    }
    try {
      const log = new Log(paths)
      log.create([note('a')])
      log.append([note('b')])
      expect(textsIn(paths.path)).toEqual(['a', 'b'])
    } finally {
      rmSync(join(paths.link, '..'), { recursive: true, force: true })
    }
  })
})

describe('the hard link of a log', () => {
  test('restores the log after its folder was removed, for a reader and for a writer', () => {
    const paths = linkedPaths()
    const log = new Log(paths)
    log.create([note('a')])
    rmSync(join(paths.path, '..'), { recursive: true })
    expect(new Log(paths).read().records).toHaveLength(1)
    rmSync(join(paths.path, '..'), { recursive: true })
    log.append([note('b')])
    expect(textsIn(paths.path)).toEqual(['a', 'b'])
  })

  test('is created again when it was removed', () => {
    const paths = linkedPaths()
    const log = new Log(paths)
    log.create([note('a')])
    rmSync(paths.link)
    log.append([note('b')])
    expect(textsIn(paths.link)).toEqual(['a', 'b'])
  })

  test('restores entries that a replaced log no longer holds, and links it again', () => {
    const paths = linkedPaths()
    const log = new Log(paths)
    log.create([note('a')])
    const older = readFileSync(paths.path)
    log.append([note('b'), note('c')])
    rmSync(paths.path)
    writeFileSync(paths.path, older)
    log.append([note('d')])
    expect(textsIn(paths.path)).toEqual(['a', 'b', 'c', 'd'])
    expect(statSync(paths.link).ino).toBe(statSync(paths.path).ino)
    expect(readdirSync(join(paths.link, '..'))).toEqual(['log.jsonl'])
  })

  test('keeps the damaged bytes of the file it replaces', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    appendFileSync(paths.path, 'half a rec')
    rmSync(paths.path)
    writeFileSync(paths.path, '')
    expect(new Log(paths).read().records).toHaveLength(1)
    const aside = readdirSync(join(paths.link, '..')).filter((name) => name.includes('.damaged-'))
    expect(aside).toHaveLength(1)
    expect(readFileSync(join(paths.link, '..', aside[0]!), 'utf8')).toContain('half a rec')
  })
})

describe('a log replaced while it is being written', () => {
  // The clock is read after the log was opened and before it is written: that is where another program interferes.
  function interrupted(paths: LogPaths, interrupt: () => void): Log {
    let isArmed = true
    const now = () => {
      if (isArmed) {
        isArmed = false
        interrupt()
      }
      return Date.now()
    }
    return new Log(paths, { now })
  }

  test('keeps the entry when its file loses its only name', () => {
    const { path } = linkedPaths()
    new Log({ path }).create([note('a')])
    const bytes = readFileSync(path)
    interrupted({ path }, () => {
      rmSync(path)
      writeFileSync(path, bytes)
    }).append([note('b')])
    expect(textsIn(path)).toEqual(['a', 'b'])
  })

  test('keeps the entry when both names move to another file', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    const bytes = readFileSync(paths.path)
    interrupted(paths, () => {
      rmSync(paths.path)
      writeFileSync(paths.path, bytes)
      new Log(paths).read()
    }).append([note('b')])
    expect(textsIn(paths.path)).toEqual(['a', 'b'])
  })

  test('keeps the entry under its own name when only the hard link is left', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    interrupted(paths, () => rmSync(join(paths.path, '..'), { recursive: true })).append([
      note('b'),
    ])
    expect(textsIn(paths.path)).toEqual(['a', 'b'])
  })

  test('acknowledges no entry that only the hard link holds', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    const bytes = readFileSync(paths.path)
    interrupted(paths, () => {
      rmSync(paths.path)
      writeFileSync(paths.path, bytes)
    }).append([note('b')])
    // As if the process that replaces the link were killed between its two reads.
    rmSync(paths.link)
    expect(textsIn(paths.path)).toEqual(['a', 'b'])
  })

  test('throws JournalMissing when no name is left', () => {
    const paths = linkedPaths()
    new Log(paths).create([note('a')])
    const log = interrupted(paths, () => {
      rmSync(paths.path)
      rmSync(paths.link)
    })
    expect(failureOf(() => log.append([note('b')]))).toBeInstanceOf(JournalMissing)
  })
})

test("a folder at the log's path is an error that names it", () => {
  const folder = scratchFolder()
  mkdirSync(join(folder, 'log.jsonl'))
  expect(
    failureOf(() => new Log({ path: join(folder, 'log.jsonl') }).append([note('a')])),
  ).toBeInstanceOf(NotWritten)
})

function failureOf(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
