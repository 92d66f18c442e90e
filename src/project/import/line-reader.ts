import { readSync } from 'node:fs'

/** Longer lines are skipped. */
const MAX_LINE = 8 * 1024 * 1024
const INITIAL_BUFFER = 1024 * 1024
const NEWLINE = 0x0a

interface ReadLine {
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
  let buffer = Buffer.allocUnsafe(INITIAL_BUFFER)
  let filled = 0
  let bufferOffset = from
  let isTooLong = false
  for (;;) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, bufferOffset + filled)
    const end = filled + read
    let start = 0
    // The bytes from before hold no newline.
    for (
      let at = indexOfNewline(buffer, filled, end);
      at !== -1;
      at = indexOfNewline(buffer, start, end)
    ) {
      const bytes = isTooLong ? buffer.subarray(0, 0) : buffer.subarray(start, at)
      yield {
        bytes,
        offset: bufferOffset + start,
        end: bufferOffset + at + 1,
        isTooLong,
        isOpen: false,
      }
      isTooLong = false
      start = at + 1
    }
    if (read === 0) {
      if (filled > 0)
        yield {
          bytes: buffer.subarray(0, isTooLong ? 0 : filled),
          offset: bufferOffset,
          end: bufferOffset + filled,
          isTooLong,
          isOpen: true,
        }
      return
    }
    bufferOffset += start
    filled = end - start
    if (start > 0) buffer.copyWithin(0, start, end)
    if (filled < buffer.length) continue
    if (buffer.length < MAX_LINE) {
      const longer = Buffer.allocUnsafe(Math.min(MAX_LINE, buffer.length * 2))
      buffer.copy(longer, 0, 0, filled)
      buffer = longer
    } else {
      isTooLong = true
      bufferOffset += filled
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

interface JsonElement {
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
  let chunks: Buffer[] = []
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
          chunks.push(buffer.subarray(start, at + 1))
          length += at + 1 - start
          const isTooLong = length > MAX_LINE
          yield {
            bytes: isTooLong ? Buffer.alloc(0) : Buffer.concat(chunks),
            end: position + at + 1,
            isTooLong,
          }
          chunks = []
          length = 0
          start = -1
        }
        if (depth === 1) isInList = false
      }
    }
    if (start !== -1) {
      length += read - start
      if (length <= MAX_LINE) chunks.push(buffer.subarray(start, read))
      else chunks = []
    }
    position += read
  }
}
