/** A reader keeps what it does not understand; a writer writes only this version. */
export const FORMAT_VERSION = 1

export interface JournalRecord {
  readonly id: string
  /** For people; `id` gives the order. */
  readonly at: string
  readonly kind: string
  readonly by: string
  /** Two entries with the same `once` are one event captured twice; the fold takes the first. */
  readonly once?: string
  readonly data: Readonly<Record<string, unknown>>
}

export type DecodeResult =
  | { readonly ok: true; readonly record: JournalRecord }
  | { readonly ok: false; readonly reason: DamageReason }

export type DamageReason =
  | 'torn or not JSON'
  | 'checksum does not match'
  | 'no checksum'
  | 'written by a newer format'
  | 'not a record'
  | 'id used twice with different content'
  | 'other bytes around a good record'
  | 'longer than any record'

const SUM_START = Buffer.from(',"sum":"')
const SUM_LENGTH = ',"sum":"00000000"}'.length
const RECORD_START = Buffer.from('{"v":')
const SUM_PREFIX_LENGTH = ',"sum":"'.length
const SUM_PATTERN = /^,"sum":"[0-9a-f]{8}"\}$/

/** The leading newline ends what a killed writer left, so a torn record never swallows the next one. */
export function encodeRecord(record: JournalRecord): Buffer {
  const { id, at, kind, by, once, data } = record
  return withChecksum(JSON.stringify({ v: FORMAT_VERSION, id, at, kind, by, once, data }), '\n')
}

/** Adds a checksum over all bytes before it as the last field. */
export function withChecksum(json: string, around = ''): Buffer {
  const bytes = Buffer.from(`${around}${json.slice(0, -1)},"sum":"00000000"}${around}`)
  const bodyEnd = bytes.length - around.length - SUM_LENGTH
  bytes.write(
    checksum(bytes.subarray(around.length, bodyEnd)),
    bodyEnd + SUM_PREFIX_LENGTH,
    'latin1',
  )
  return bytes
}

export function hasValidChecksum(bytes: Buffer): boolean {
  const bodyEnd = Math.max(0, bytes.length - SUM_LENGTH)
  const tail = bytes.toString('latin1', bodyEnd)
  return (
    SUM_PATTERN.test(tail) &&
    checksum(bytes.subarray(0, bodyEnd)) === tail.slice(SUM_PREFIX_LENGTH, SUM_PREFIX_LENGTH + 8)
  )
}

/** Entries have at most a million characters; other records are far below this. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024

export function decodeLine(line: Buffer): DecodeResult {
  if (line.length > MAX_RECORD_BYTES) return { ok: false, reason: 'longer than any record' }
  if (hasValidChecksum(line)) return decodeChecked(line)
  const hasSum = SUM_PATTERN.test(line.toString('latin1', Math.max(0, line.length - SUM_LENGTH)))
  if (hasSum) return { ok: false, reason: 'checksum does not match' }
  return { ok: false, reason: isJson(line) ? 'no checksum' : 'torn or not JSON' }
}

/** Finds complete records in a line where a tool joined lines or a power cut left leading zeroes. */
export function findRecords(
  line: Buffer,
): { record: JournalRecord; text: Buffer; start: number }[] {
  const found: { record: JournalRecord; text: Buffer; start: number }[] = []
  // Garbage can look like the start of a record everywhere; the effort stays linear.
  let effort = 64 * line.length
  let start = line.indexOf(RECORD_START)
  while (start !== -1 && effort > 0) {
    let next = start + 1
    for (
      let sum = line.indexOf(SUM_START, start);
      sum !== -1 && effort > 0;
      sum = line.indexOf(SUM_START, sum + 1)
    ) {
      const text = line.subarray(start, sum + SUM_LENGTH)
      const decoded = decodeLine(text)
      effort -= text.length
      if (!decoded.ok) continue
      found.push({ record: decoded.record, text, start })
      next = start + text.length
      break
    }
    start = line.indexOf(RECORD_START, next)
  }
  return found
}

function decodeChecked(line: Buffer): DecodeResult {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    return { ok: false, reason: 'torn or not JSON' }
  }
  if (typeof value !== 'object' || value === null) return { ok: false, reason: 'not a record' }
  const { v, id, at, kind, by, once, data } = value as Record<string, unknown>
  if (typeof v !== 'number') return { ok: false, reason: 'not a record' }
  if (v > FORMAT_VERSION) return { ok: false, reason: 'written by a newer format' }
  const hasData = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (typeof id !== 'string' || typeof at !== 'string' || typeof kind !== 'string' || !hasData)
    return { ok: false, reason: 'not a record' }
  const record = {
    id,
    at,
    kind,
    by: typeof by === 'string' ? by : 'unknown',
    data: data as Record<string, unknown>,
  }
  return { ok: true, record: typeof once === 'string' ? { ...record, once } : record }
}

export function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'))
    return true
  } catch {
    return false
  }
}

// Loading `node:zlib` costs more than summing up to this many bytes here.

const LARGE_BYTES = 64 * 1024
let table: Int32Array | undefined

export function crc32(bytes: Buffer, before = 0): number {
  if (bytes.length > LARGE_BYTES) return process.getBuiltinModule('node:zlib').crc32(bytes, before)
  table ??= buildTable()
  const { length } = bytes
  const inFours = length - (length % 4)
  let sum = ~before
  let index = 0
  // Four bytes a round: code that runs once is interpreted, so the rounds cost more than the work.
  for (; index < inFours; index += 4) {
    sum ^=
      bytes[index]! |
      (bytes[index + 1]! << 8) |
      (bytes[index + 2]! << 16) |
      (bytes[index + 3]! << 24)
    sum =
      table[768 + (sum & 255)]! ^
      table[512 + ((sum >>> 8) & 255)]! ^
      table[256 + ((sum >>> 16) & 255)]! ^
      table[sum >>> 24]!
  }
  for (; index < length; index += 1) sum = table[(sum ^ bytes[index]!) & 255]! ^ (sum >>> 8)
  return ~sum >>> 0
}

/** Tables for one byte, then for a byte followed by one, two and three bytes. */
function buildTable() {
  const made = new Int32Array(4 * 256)
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte
    for (let bit = 0; bit < 8; bit += 1)
      value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    made[byte] = value
  }
  for (let at = 256; at < made.length; at += 1)
    made[at] = (made[at - 256]! >>> 8) ^ made[made[at - 256]! & 255]!
  return made
}
