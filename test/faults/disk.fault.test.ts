// Real disks that are full or read-only: a small tmpfs, filled up or mounted read-only.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, describe, expect, onTestFinished, test } from 'vitest'
import { NotWritten, OutcomeUnknown } from '../../src/journal/errors.ts'
import { Log, type RecordDraft } from '../../src/journal/log.ts'
import type { JournalRecord } from '../../src/journal/record.ts'
import { scratchFolder } from '../support/scratch.ts'

const note = (text: string): RecordDraft => ({ kind: 'note.added', by: 'test', data: { text } })

/** A disk of 64 KiB; skips the test where none may be mounted. */
function smallDisk(context: TestContext): string {
  const disk = join(scratchFolder(), 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    context.skip('mounting a tmpfs is not permitted here')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]))
  return disk
}

const remount = (disk: string, options: string) =>
  execFileSync('mount', ['-o', `remount,${options}`, disk])

/** Appends until the disk is full; returns what was acknowledged and how it failed. */
function fillUp(log: Log): {
  acknowledged: readonly JournalRecord[]
  failure: NotWritten | OutcomeUnknown
} {
  const acknowledged: JournalRecord[] = []
  for (;;) {
    try {
      acknowledged.push(...log.append([note(`${acknowledged.length} ${'x'.repeat(400)}`)]))
    } catch (error) {
      if (error instanceof NotWritten || error instanceof OutcomeUnknown)
        return { acknowledged, failure: error }
      throw error
    }
  }
}

describe('a full disk', () => {
  test('keeps acknowledged entries, stays readable, and accepts the rest once there is room', (context) => {
    const disk = smallDisk(context)
    const paths = { path: join(disk, 'work/log.jsonl'), link: join(disk, 'git/log.jsonl') }
    const log = new Log(paths)
    const opened = log.create([note('first')])
    const { acknowledged, failure } = fillUp(log)

    expect(failure).toMatchObject({ code: 'NOT_WRITTEN', hint: expect.stringContaining('full') })
    expect(acknowledged.length).toBeGreaterThan(50)
    const full = new Log(paths).read()
    expect(full.records).toEqual([...opened, ...acknowledged])

    remount(disk, 'size=128k')
    expect(log.append(failure.records)).toEqual(failure.records)
    const [last] = log.append([note('last')])
    const { records, damage } = new Log(paths).read()
    expect(records).toEqual([...opened, ...acknowledged, ...failure.records, last])
    expect(damage.map(({ reason }) => reason)).toEqual(full.damage.map(() => 'torn or not JSON'))
  })

  test('that cuts a record short is not reported as success', (context) => {
    const disk = smallDisk(context)
    const path = join(disk, 'log.jsonl')
    const log = new Log({ path })
    const opened = log.create([note('first')])
    const failure = failureOf(() => log.append([note('x'.repeat(100_000))]))
    expect(failure).toBeInstanceOf(NotWritten)
    expect(failure).toMatchObject({ cause: { name: 'ShortWrite', code: 'ENOSPC' } })
    const { records, damage } = new Log({ path }).read()
    expect(records).toEqual(opened)
    expect(damage).toMatchObject([{ file: path, reason: 'torn or not JSON' }])
  })

  test('refuses a new log and leaves no file behind', (context) => {
    const disk = smallDisk(context)
    const path = join(disk, 'log.jsonl')
    writeFileSync(join(disk, 'filler'), Buffer.alloc(60 * 1024))
    const failure = failureOf(() => new Log({ path }).create([note('x'.repeat(20_000))]))
    expect(failure).toBeInstanceOf(NotWritten)
    expect(new Log({ path }).exists()).toBe(false)
    rmSync(join(disk, 'filler'))
    new Log({ path }).create((failure as NotWritten).records)
    expect(new Log({ path }).read().records).toHaveLength(1)
  })
})

describe('a read-only disk', () => {
  test('can be read through any remaining name, and refuses an append with an error', (context) => {
    const disk = smallDisk(context)
    const paths = {
      path: join(disk, 'work/log.jsonl'),
      link: join(disk, 'git/log.jsonl'),
      ownMark: join(disk, 'own'),
    }
    const creator = new Log(paths)
    const records = creator.create([note('first')])
    creator.close()
    const before = readFileSync(paths.path)

    for (const lost of [undefined, paths.link, join(disk, 'work')]) {
      if (lost !== undefined) rmSync(lost, { recursive: true })
      remount(disk, 'ro')
      const log = new Log(paths)
      expect(log.read().records).toEqual(records)
      expect(log.identity().size).toBe(before.length)
      const failure = failureOf(() => log.append([note('second')]))
      expect(failure).toMatchObject({
        code: 'NOT_WRITTEN',
        hint: expect.stringContaining('cannot be written'),
      })
      expect(
        failureOf(() => new Log({ path: join(disk, 'new/log.jsonl') }).create([note('a')])),
      ).toBeInstanceOf(NotWritten)
      expect(log.read().records).toEqual(records)
      log.close()
      remount(disk, 'rw')
      // Restores the lost name for the next round.
      const writable = new Log(paths)
      writable.descriptor()
      writable.close()
    }
    expect(readFileSync(paths.path)).toEqual(before)
  })
})

function failureOf(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
