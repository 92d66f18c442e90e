import { readSync } from 'node:fs'

/** Longer lines are skipped. */
const LONGEST_LINE = 8 * 1024 * 1024
const FIRST_BUFFER = 1024 * 1024
const NEWLINE = 0x0a

export interface ReadLine {
  /** Valid until the next line: the buffer is reused. Empty for a line that is too long. */
  readonly bytes: Buffer
  readonly offset: number
  /** After its newline. */
  readonly end: number
  readonly isTooLong: boolean
  /** No newline yet: it may still be being written. */
  readonly isOpen: boolean
}

export function* linesFrom(fd: number, from: number): Generator<ReadLine> {
  let buffer = Buffer.allocUnsafe(FIRST_BUFFER)
  let filled = 0
  let base = from
  let isTooLong = false
  for (;;) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, base + filled)
    const end = filled + read
    let start = 0
    // The bytes from before hold no newline.
    for (
      let at = indexOfNewline(buffer, filled, end);
      at !== -1;
      at = indexOfNewline(buffer, start, end)
    ) {
      const bytes = isTooLong ? buffer.subarray(0, 0) : buffer.subarray(start, at)
      yield { bytes, offset: base + start, end: base + at + 1, isTooLong, isOpen: false }
      isTooLong = false
      start = at + 1
    }
    if (read === 0) {
      if (filled > 0)
        yield {
          bytes: buffer.subarray(0, isTooLong ? 0 : filled),
          offset: base,
          end: base + filled,
          isTooLong,
          isOpen: true,
        }
      return
    }
    base += start
    filled = end - start
    if (start > 0) buffer.copyWithin(0, start, end)
    if (filled < buffer.length) continue
    if (buffer.length < LONGEST_LINE) {
      const longer = Buffer.allocUnsafe(Math.min(LONGEST_LINE, buffer.length * 2))
      buffer.copy(longer, 0, 0, filled)
      buffer = longer
    } else {
      isTooLong = true
      base += filled
      filled = 0
    }
  }
}

function indexOfNewline(buffer: Buffer, from: number, end: number) {
  const at = buffer.subarray(from, end).indexOf(NEWLINE)
  return at === -1 ? -1 : from + at
}

const CHUNK = 1024 * 1024
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

export interface JsonElement {
  /** Empty when it is too long. */
  readonly bytes: Buffer
  readonly end: number
  readonly isTooLong: boolean
}

/**
 * Elements of a list in a top-level field, without parsing the document, which may be too long. A
 * truncated last one is left out.
 */
export function* elementsOf(fd: number, field: string): Generator<JsonElement> {
  const name = Buffer.from(`"${field}"`)
  let pieces: Buffer[] = []
  let length = 0
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isInList = false
  /** The last top-level key. */
  let key: number[] = []
  for (let position = 0; ;) {
    const buffer = Buffer.allocUnsafe(CHUNK)
    const read = readSync(fd, buffer, 0, CHUNK, position)
    if (read === 0) return
    let start = isInList && depth > 2 ? 0 : -1
    for (let at = 0; at < read; at += 1) {
      const byte = buffer[at]!
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInString = false
        if (depth === 1 && key.length <= name.length) key.push(byte)
      } else if (byte === QUOTE) {
        isInString = true
        if (depth === 1) key = [byte]
      } else if (byte === OPEN || byte === OPEN_LIST) {
        depth += 1
        if (depth === 2) isInList = byte === OPEN_LIST && name.equals(Uint8Array.from(key))
        if (depth === 3 && isInList) start = at
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        depth -= 1
        if (depth === 2 && isInList && start !== -1) {
          pieces.push(buffer.subarray(start, at + 1))
          length += at + 1 - start
          const isTooLong = length > LONGEST_LINE
          yield {
            bytes: isTooLong ? Buffer.alloc(0) : Buffer.concat(pieces),
            end: position + at + 1,
            isTooLong,
          }
          pieces = []
          length = 0
          start = -1
        }
        if (depth === 1) isInList = false
      }
    }
    if (start !== -1) {
      length += read - start
      if (length <= LONGEST_LINE) pieces.push(buffer.subarray(start, read))
      else pieces = []
    }
    position += read
  }
}
