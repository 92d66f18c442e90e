import { readSync } from 'node:fs'

/** A line that is longer is passed over. */
export const LONGEST_LINE = 8 * 1024 * 1024
const FIRST_BUFFER = 1024 * 1024
const NEWLINE = 0x0a

export interface ReadLine {
  /** Until the next one is asked for: the memory is used again. Empty for a line that is too long. */
  readonly bytes: Buffer
  readonly offset: number
  /** Behind the line and its end. */
  readonly end: number
  readonly isTooLong: boolean
  /** Nothing ends it: it may be still being written. */
  readonly isOpen: boolean
}

/** The lines of a file of any length from an offset on, in the memory of its longest line. */
export function* linesFrom(fd: number, from: number): Generator<ReadLine> {
  let buffer = Buffer.allocUnsafe(FIRST_BUFFER)
  /** What of the buffer is filled, and where that stands in the file. */
  let filled = 0
  let base = from
  let isTooLong = false
  for (;;) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, base + filled)
    const end = filled + read
    let start = 0
    // What was filled before has no end of a line in it.
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

function indexOfNewline(buffer: Buffer, from: number, end: number): number {
  const at = buffer.subarray(from, end).indexOf(NEWLINE)
  return at === -1 ? -1 : from + at
}
