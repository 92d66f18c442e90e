import { describe, expect, test } from 'vitest'
import type { RecordDraft } from '../../src/journal/log.ts'
import type { JournalRecord } from '../../src/journal/record.ts'

type Answer<T> = T | Promise<T>

/** One writer's handle on a log, like that of a separate process. */
export interface OpenLog {
  append(drafts: readonly RecordDraft[]): Answer<readonly JournalRecord[]>
  /** Every record, each id once. */
  read(): Answer<readonly JournalRecord[]>
  close(): Answer<void>
}

/** A new, empty log to test: each `open` is another writer on it. */
export interface LogUnderTest {
  open(options?: { now?: () => number }): Answer<OpenLog>
}

/** What every log promises, whatever stores it. */
export function describeLog(name: string, newLog: () => Answer<LogUnderTest>): void {
  describe(`${name} as a log`, () => {
    test('returns what was appended, complete and in order', async () => {
      const log = await (await newLog()).open()
      const first = await log.append([note('a'), note('b')])
      const second = await log.append([
        note('c', { once: 'key', data: { text: 'c', deep: { list: [1, null, 'é\0\ud800🧭'] } } }),
      ])
      expect(await log.read()).toEqual([...first, ...second])
      expect(texts(await log.read())).toEqual(['a', 'b', 'c'])
      await log.close()
    })

    test('assigns every record an increasing id and a time', async () => {
      const log = await (await newLog()).open()
      const records = [
        ...(await log.append([note('a'), note('b'), note('c')])),
        ...(await log.append([note('d')])),
      ]
      const ids = records.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)].toSorted())
      expect(records.every(({ at }) => at === new Date(at).toISOString())).toBe(true)
      await log.close()
    })

    test('keeps ids increasing while the clock goes back', async () => {
      let now = Date.UTC(2026, 0, 2)
      const log = await (await newLog()).open({ now: () => now })
      await log.append([note('a')])
      now -= 3_600_000
      await log.append([note('b'), note('c')])
      const ids = (await log.read()).map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted())
      await log.close()
    })

    test('keeps an id and a time that the caller supplies', async () => {
      const log = await (await newLog()).open()
      const given = { id: '0190a000-0000-7000-8000-000000000001', at: '2026-01-02T03:04:05.678Z' }
      expect(await log.append([note('a', given)])).toMatchObject([given])
      expect(await log.read()).toMatchObject([given])
      await log.close()
    })

    test('stores a record once, however often it is appended', async () => {
      const underTest = await newLog()
      const [first, second] = [await underTest.open(), await underTest.open()]
      const records = await first.append([note('a'), note('b')])
      expect(await first.append(records)).toEqual(records)
      expect(await second.append(records)).toEqual(records)
      expect(await second.read()).toEqual(records)
      await first.close()
      await second.close()
    })

    test('never lets an id be reused for other data', async () => {
      const log = await (await newLog()).open()
      const [first] = await log.append([note('a')])
      await Promise.resolve(log.append([note('something else', { id: first!.id })])).catch(
        (error: unknown) => error,
      )
      expect(await log.read()).toEqual([first])
      await log.close()
    })

    test('shows one writer at once what another appended', async () => {
      const underTest = await newLog()
      const [first, second] = [await underTest.open(), await underTest.open()]
      for (let n = 0; n < 5; n += 1) {
        await (n % 2 === 0 ? first : second).append([note(String(n))])
        expect(texts(await (n % 2 === 0 ? second : first).read())).toHaveLength(n + 1)
      }
      await first.close()
      await second.close()
    })

    test('assigns a second writer ids above those of the first, even if its clock is behind', async () => {
      const underTest = await newLog()
      const first = await underTest.open({ now: () => Date.UTC(2026, 0, 2) })
      const second = await underTest.open({ now: () => Date.UTC(2026, 0, 1) })
      const [a] = await first.append([note('a')])
      const [b] = await second.append([note('b')])
      const [c] = await first.append([note('c')])
      expect([a!.id, b!.id, c!.id]).toEqual([a!.id, b!.id, c!.id].toSorted())
      await first.close()
      await second.close()
    })

    test('loses and duplicates nothing with concurrent writers', async () => {
      const underTest = await newLog()
      const writers = await Promise.all(Array.from({ length: 8 }, () => underTest.open()))
      const written = await Promise.all(
        writers.map(async (writer, w) => {
          const ids: string[] = []
          for (let n = 0; n < 25; n += 1) {
            ids.push(...(await writer.append([note(`${w}/${n}`)])).map(({ id }) => id))
            await Promise.resolve()
          }
          return ids
        }),
      )
      const read = await writers[0]!.read()
      expect(read.map(({ id }) => id).toSorted()).toEqual(written.flat().toSorted())
      expect(new Set(texts(read)).size).toBe(200)
      for (const [w] of writers.entries()) {
        const own = texts(read).filter((text) => String(text).startsWith(`${w}/`))
        expect(own).toEqual(Array.from({ length: 25 }, (_, n) => `${w}/${n}`))
      }
      for (const writer of writers) await writer.close()
    })

    test('is unchanged after all writers closed and reopened it', async () => {
      const underTest = await newLog()
      const before = await underTest.open()
      await before.append([note('a'), note('b')])
      const records = await before.read()
      await before.close()
      const after = await underTest.open()
      expect(await after.read()).toEqual(records)
      const [c] = await after.append([note('c')])
      expect(await after.read()).toEqual([...records, c])
      await after.close()
    })

    test('accepts a record of a megabyte', async () => {
      const log = await (await newLog()).open()
      const records = await log.append([note('x'.repeat(1_000_000)), note('after')])
      expect(await log.read()).toEqual(records)
      await log.close()
    })
  })
}

function note(text: string, extra: Partial<RecordDraft> = {}): RecordDraft {
  return { kind: 'note.added', by: 'test', data: { text }, ...extra }
}

function texts(records: readonly JournalRecord[]): unknown[] {
  return records.map(({ data }) => data['text'])
}
