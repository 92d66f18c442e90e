import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type JournalRecord, decodeLine, encodeRecord } from '../../src/journal/record.ts'

const RECORD: JournalRecord = {
  id: '0190a000-0000-7001-8000-000000000001',
  at: '2026-01-02T03:04:05.678Z',
  kind: 'note.added',
  by: 'cli',
  data: { text: 'hello' },
}

const TEXTS: Record<string, string> = {
  NUL: 'a\0b',
  'a lone high surrogate': 'a\ud83db',
  'a lone low surrogate': '\udca1',
  'an emoji of four bytes': '🧭 and 👩‍👩‍👧',
  'CR and CRLF': 'a\rb\r\nc',
  'a newline': 'one\ntwo\n',
  'U+2028 and U+2029': 'a\u2028b\u2029c',
  'a byte order mark': '\ufeffa',
  'text that looks like a record': '{"v":1,"id":"x","sum":"00000000"}',
  'text that looks like a checksum': ',"sum":"00000000"}',
  'eight megabytes': 'word '.repeat(1_677_721),
}

describe('a record', () => {
  test.each(Object.entries(TEXTS))('round-trips with %s in it', (_name, text) => {
    const record = {
      ...RECORD,
      by: text.slice(0, 20),
      once: text.slice(0, 20),
      data: { text, nested: { [text.slice(0, 50)]: [text] } },
    }
    expect(decodeLine(lineOf(record))).toEqual({ ok: true, record })
  })

  test('round-trips with any JSON data', () => {
    const json = fc.dictionary(
      fc.string({ unit: 'binary' }),
      fc.jsonValue({ noUnicodeString: false }),
    )
    fc.assert(
      fc.property(
        json,
        fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
        (data, once) => {
          const record = once === undefined ? { ...RECORD, data } : { ...RECORD, once, data }
          const decoded = decodeLine(lineOf(record))
          expect(decoded.ok && JSON.stringify(decoded.record)).toBe(JSON.stringify(ordered(record)))
        },
      ),
    )
  })

  test('is framed by newlines and has none inside', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const frame = encodeRecord({ ...RECORD, data: { text } })
        expect([frame.at(0), frame.at(-1)]).toEqual([0x0a, 0x0a])
        expect(frame.subarray(1, -1).includes(0x0a)).toBe(false)
      }),
    )
  })

  test('with any byte changed, dropped or cut off is refused', () => {
    const line = lineOf({ ...RECORD, data: { text: 'né 🧭' } })
    for (let index = 0; index < line.length; index += 1) {
      const changed = Buffer.from(line)
      changed[index] = changed[index]! ^ 0x01
      const dropped = Buffer.concat([line.subarray(0, index), line.subarray(index + 1)])
      const answers = [changed, dropped, line.subarray(0, index)].map(
        (bytes) => decodeLine(bytes).ok,
      )
      expect({ index, answers }).toEqual({ index, answers: [false, false, false] })
    }
  })
})

describe('a line that is not a record', () => {
  const REFUSED: readonly [string, string, string][] = [
    ['an empty line', '', 'torn or not JSON'],
    ['half a record', lineOf(RECORD).toString().slice(0, 60), 'torn or not JSON'],
    ['short JSON without a checksum', '{}', 'no checksum'],
    [
      'long JSON without a checksum',
      '{"id":"0190a000-0000-7001-8000-000000000001","kind":"x"}',
      'no checksum',
    ],
    [
      'a record with another checksum',
      summed('{"v":1,"id":"a"', 'deadbeef'),
      'checksum does not match',
    ],
    [
      'a checksummed line of a newer format',
      summed('{"v":2,"id":"a"'),
      'written by a newer format',
    ],
    [
      'a checksummed line without a version',
      summed('{"id":"a","at":"b","kind":"c","data":{}'),
      'not a record',
    ],
    [
      'a checksummed line without an id',
      summed('{"v":1,"at":"b","kind":"c","data":{}'),
      'not a record',
    ],
    [
      'a checksummed line without a kind',
      summed('{"v":1,"id":"a","at":"b","data":{}'),
      'not a record',
    ],
    [
      'a checksummed line whose data is a list',
      summed('{"v":1,"id":"a","at":"b","kind":"c","data":[]'),
      'not a record',
    ],
    [
      'a checksummed line whose data is null',
      summed('{"v":1,"id":"a","at":"b","kind":"c","data":null'),
      'not a record',
    ],
    ['a checksummed line that is not JSON', summed('{"v":1,,'), 'torn or not JSON'],
  ]
  test.each(REFUSED)('%s is refused with its reason', (_name, line, reason) => {
    expect(decodeLine(Buffer.from(line))).toEqual({ ok: false, reason })
  })

  test('is refused without an exception for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => !decodeLine(Buffer.from(bytes)).ok),
    )
  })
})

function lineOf(record: JournalRecord): Buffer {
  return encodeRecord(record).subarray(1, -1)
}

function ordered({ id, at, kind, by, data, once }: JournalRecord): JournalRecord {
  return once === undefined ? { id, at, kind, by, data } : { id, at, kind, by, data, once }
}

/** A line with a checksum, by default the right one. */
function summed(body: string, sum = crc(body)): string {
  return `${body},"sum":"${sum}"}`
}

function crc(body: string): string {
  let value = ~0
  for (const byte of Buffer.from(body)) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1)
      value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (~value >>> 0).toString(16).padStart(8, '0')
}
