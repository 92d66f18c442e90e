import {
  type JournalRecord,
  checksum,
  decodeLine,
  encodeRecord,
  findRecords,
} from '../../journal/record.ts'
import type { Needle } from './needle.ts'

const NEWLINE = 0x0a

/**
 * The lines of a log without a text. Those of several files that hold the same log may be added one after
 * the other; a line that is there already is left out, as it is when a killed purge is run again.
 */
export class ScrubbedLines {
  /** How often the text was found. */
  count = 0
  readonly #needle: Needle
  readonly #seen = new Set<string>()

  constructor(needle: Needle) {
    this.#needle = needle
  }

  /** What of these bytes is to be written, each line between newlines. */
  add(bytes: Buffer): Buffer {
    const kept: Buffer[] = []
    for (let start = 0; start < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, start)
      const stop = newline === -1 ? bytes.length : newline
      const line = this.#scrub(bytes.subarray(start, stop))
      start = stop + 1
      const key = line.toString('latin1')
      if (key.trim() === '' || this.#seen.has(key)) continue
      this.#seen.add(key)
      kept.push(FRAME, line, FRAME)
    }
    return Buffer.concat(kept)
  }

  #scrub(line: Buffer): Buffer {
    const decoded = decodeLine(line)
    if (decoded.ok) return this.#record(decoded.record, line)
    if (decoded.reason === 'written by a newer format') return this.#resealed(line)
    const pieces: Buffer[] = []
    let end = 0
    for (const { record, text, start } of findRecords(line)) {
      pieces.push(this.#damage(line.subarray(end, start)), this.#record(record, text))
      end = start + text.length
    }
    return Buffer.concat([...pieces, this.#damage(line.subarray(end))])
  }

  /** A record that does not hold the text keeps its very bytes. */
  #record(record: JournalRecord, text: Buffer): Buffer {
    if (!this.#needle.isIn(text) && !this.#hasName(record)) return text
    const data = this.#needle.scrubData(record.data)
    if (data.count === 0) return text
    this.count += data.count
    return encodeRecord({ ...record, data: data.value }).subarray(1, -1)
  }

  /** A record that only a newer program understands ends in a checksum like ours, which is made to fit again. */
  #resealed(line: Buffer): Buffer {
    const { value, count } = this.#needle.scrubBytes(line)
    if (count === 0) return line
    this.count += count
    const body = value.subarray(0, value.lastIndexOf(SUM))
    return Buffer.concat([body, Buffer.from(`${SUM}${checksum(body)}"}`)])
  }

  #hasName({ data }: JournalRecord): boolean {
    return [data['name'], data['shortname']].some(
      (name) => typeof name === 'string' && this.#needle.scrubName(name).count > 0,
    )
  }

  #damage(bytes: Buffer): Buffer {
    const { value, count } = this.#needle.scrubDamage(bytes)
    this.count += count
    return value
  }
}

const SUM = ',"sum":"'
const FRAME = Buffer.from('\n')
