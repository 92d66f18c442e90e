import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLog, readLog } from '../../src/journal/read-log.ts'
import { type JournalRecord, encodeRecord } from '../../src/journal/record.ts'

const FOLDER = join(import.meta.dirname, '../fixtures/damaged')

/** For each damaged file: its complete entries, and the damage as `line: reason`. */
const DAMAGED: Record<string, { good: readonly number[]; damage: readonly string[] }> = {
  empty: { good: [], damage: [] },
  'blank-lines': { good: [], damage: [] },
  'torn-tail': { good: [1, 2], damage: ['6: torn or not JSON'] },
  'torn-then-appended': { good: [1, 3], damage: ['4: torn or not JSON'] },
  'torn-then-glued': { good: [1, 3], damage: ['4: other bytes around a good record'] },
  'torn-in-emoji': { good: [1, 3], damage: ['4: torn or not JSON'] },
  'no-newline-at-end': { good: [1, 2], damage: [] },
  'two-on-one-line': { good: [1, 2, 3, 4], damage: ['4: other bytes around a good record'] },
  'nul-page': { good: [1, 2], damage: ['3: torn or not JSON'] },
  'nul-before-record': { good: [1, 2, 3], damage: ['3: other bytes around a good record'] },
  'garbage-middle': { good: [1, 2, 3], damage: ['3: torn or not JSON', '5: torn or not JSON'] },
  crlf: { good: [1, 2], damage: [] },
  'wrong-checksum': { good: [1, 3], damage: ['4: checksum does not match'] },
  'no-checksum': { good: [1, 3], damage: ['4: no checksum'] },
  'not-a-record': { good: [1, 3], damage: ['4: not a record', '5: no checksum'] },
  'newer-format': { good: [1, 3], damage: ['4: written by a newer format'] },
  'unknown-kind': { good: [1, 2, 3], damage: [] },
  'id-reused': { good: [1, 2, 3], damage: ['6: id used twice with different content'] },
  repeated: { good: [1, 2, 3], damage: [] },
  'conflict-markers': {
    good: [1, 2],
    damage: ['1: torn or not JSON', '4: torn or not JSON', '7: torn or not JSON'],
  },
  'byte-order-mark': { good: [1, 2], damage: ['1: other bytes around a good record'] },
}

describe('reading a damaged log', () => {
  test.each(Object.entries(DAMAGED))(
    '%s yields every good record and reports file, line and reason',
    (name, { good, damage }) => {
      const path = join(FOLDER, `${name}.jsonl`)
      const contents = readLog(path)
      expect(contents.records.map((record) => Number(record.id.slice(-1)))).toEqual(good)
      expect(contents.damage.map(({ line, reason }) => `${line}: ${reason}`)).toEqual(damage)
      expect(
        contents.damage.every(({ file, preview }) => file === path && preview.length > 0),
      ).toBe(true)
    },
  )

  test('every fixture has an expectation', () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'))
    expect(files.map((file) => basename(file, '.jsonl')).toSorted()).toEqual(
      Object.keys(DAMAGED).toSorted(),
    )
  })

  test.each(Object.keys(DAMAGED))('%s points at the damaged bytes', (name) => {
    const path = join(FOLDER, `${name}.jsonl`)
    const bytes = readFileSync(path)
    for (const { offset, line } of readLog(path).damage) {
      expect(bytes.subarray(0, offset).filter((byte) => byte === 0x0a)).toHaveLength(line - 1)
    }
  })

  test('a reused id with other content never replaces the first record', () => {
    const { records } = readLog(join(FOLDER, 'id-reused.jsonl'))
    expect(records[1]?.data).toEqual({ text: 'entry 2' })
  })
})

describe('a reader', () => {
  const record = (n: number): JournalRecord => ({
    id: `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    at: '2026-01-02T03:04:05.678Z',
    kind: 'note.added',
    by: 'cli',
    data: { text: `entry ${n}`, looks: { v: n, sum: '00000000' } },
  })
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('{"v":1,', ',"sum":"00000000"}', '{"v":', '\r\n', '\0\0\0\0')
      .map((text) => Buffer.from(text)),
    fc
      .tuple(fc.integer({ min: 900, max: 999 }), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([n, share]) => {
        const frame = encodeRecord(record(n))
        // Always without the closing brace: a kill leaves half a record.
        return frame.subarray(0, Math.floor(share * (frame.length - 3)))
      }),
  )

  test('finds every complete record between any other bytes', () => {
    fc.assert(
      fc.property(fc.array(junk, { maxLength: 8 }), (pieces) => {
        const bytes = Buffer.concat(pieces.flatMap((piece, n) => [piece, encodeRecord(record(n))]))
        expect(parseLog(bytes, 'log').records).toEqual(pieces.map((_piece, n) => record(n)))
      }),
    )
  })

  test('finds every complete record in joined lines', () => {
    fc.assert(
      fc.property(fc.array(junk, { minLength: 1, maxLength: 6 }), (pieces) => {
        const lines = pieces.flatMap((piece, n) => [
          withoutNewlines(piece),
          encodeRecord(record(n)).subarray(1, -1),
        ])
        expect(parseLog(Buffer.concat(lines), 'log').records).toEqual(
          pieces.map((_piece, n) => record(n)),
        )
      }),
    )
  })

  test('yields the complete records at every cut and stops where the next read begins', () => {
    const bytes = Buffer.concat([0, 1, 2, 3].map((n) => encodeRecord(record(n))))
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const first = parseLog(bytes.subarray(0, cut), 'log')
      const second = parseLog(bytes.subarray(first.end), 'log', first.end)
      const ids = new Set([...first.records, ...second.records].map(({ id }) => id))
      expect({ cut, ids: ids.size, damage: second.damage }).toEqual({ cut, ids: 4, damage: [] })
    }
  })

  test('reads a megabyte that looks like the start of a record everywhere', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"v":,"sum":"'.repeat(80_000)),
      encodeRecord(record(1)),
    ])
    const contents = parseLog(bytes, 'log')
    expect(contents.records).toEqual([record(1)])
    expect(contents.damage).toHaveLength(1)
  })
})

function withoutNewlines(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a))
}
