import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Measurement } from '../../src/cli/study/parameters.ts'
import { type MeasureProgress, measure } from '../../bench/measure/measure.ts'
import { carriersOf } from '../support/processes.ts'

/** Finds our folders and processes: each process has its folder in its environment. */
const MEASURE_PREFIX = `stint-measure-${process.pid}-`

function leftBehind(): readonly unknown[] {
  return [
    ...readdirSync(tmpdir()).filter((name) => name.startsWith(MEASURE_PREFIX)),
    ...carriersOf(MEASURE_PREFIX),
  ]
}

describe('a measurement', () => {
  const reports: MeasureProgress[] = []
  let found: Measurement
  let left: readonly unknown[]

  beforeAll(async () => {
    found = await measure({ size: 'quick', onProgress: (progress) => reports.push(progress) })
    left = leftBehind()
  }, 300_000)

  test('finds no acknowledged entry lost, doubled or hidden by kills, concurrent writers and torn writes', () => {
    expect(found.stale).toEqual({ happened: 0, trials: 16 })
    expect(found.conflicts).toEqual({ happened: 0, trials: 8 })
    // Each of them really left a torn record.
    expect(found.unreadable).toEqual({ happened: 0, trials: 20 })
  })

  test('detects the same failures in a session.json that is rewritten in place', () => {
    const { stale, conflicts, unreadable } = found.control
    expect(stale.happened).toBeGreaterThan(0)
    expect(conflicts.happened).toBeGreaterThan(0)
    expect(unreadable).toEqual({ happened: 8, trials: 8 })
  })

  test('counts writes, bytes and injected tokens, which grow with the session', () => {
    const { simple, medium, complex } = found.sessions
    for (const figure of ['tasks', 'writes', 'bytes', 'commands', 'tokens'] as const) {
      expect(simple[figure]).toBeGreaterThan(0)
      expect(medium[figure]).toBeGreaterThan(simple[figure])
      expect(complex[figure]).toBeGreaterThan(medium[figure])
    }
  })

  test('finds each fact in the injected context, or through a command it names', () => {
    const { simple, medium, complex } = found.sessions
    expect(simple.givenBack).toEqual({ happened: 16, trials: 16 })
    for (const { givenBack, shownOnDemand } of [medium, complex]) {
      expect(shownOnDemand).toEqual({
        happened: shownOnDemand.trials,
        trials: givenBack.trials - givenBack.happened,
      })
    }
  })

  test('reports its progress and the machine it ran on', () => {
    expect(reports.map(({ done }) => done)).toEqual(reports.map((_, index) => index + 1))
    expect(reports.at(-1)?.done).toBe(reports.at(-1)?.total)
    expect(found.machine).toContain(process.version)
  })

  test('leaves neither a folder nor a process behind', () => {
    expect(left).toEqual([])
  })
})

describe('a measurement that is interrupted', () => {
  test.each(['at once', 'while writers are killed'])(
    '%s is reported, and leaves nothing behind',
    async (when) => {
      const stop = new AbortController()
      if (when === 'at once') stop.abort()
      const measuring = measure({
        size: 'quick',
        signal: stop.signal,
        onProgress: () => stop.abort(),
      })
      await expect(measuring).rejects.toMatchObject({ code: 'INTERRUPTED' })
      expect(leftBehind()).toEqual([])
    },
  )

  test('by a trial that cannot run prints the reason, and leaves nothing behind', async () => {
    const measuring = measure({
      size: 'quick',
      library: '/nowhere/library.js',
    })
    await expect(measuring).rejects.toThrow(/could not be made.*nowhere/s)
    expect(leftBehind()).toEqual([])
  })
})
