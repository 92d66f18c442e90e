import { readSync } from 'node:fs'
import { LONGEST_LINE } from './line-reader.ts'

const CHUNK = 1024 * 1024
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

export interface Element {
  /** Empty when it is too long. */
  readonly bytes: Buffer
  readonly end: number
  readonly isTooLong: boolean
}

/**
 * The objects of the list that an outermost field of a JSON document holds, one at a time: the document may be too long to be
 * parsed whole. What is cut off at the end is left out.
 */
export function* elementsOf(fd: number, field: string): Generator<Element> {
  const name = Buffer.from(`"${field}"`)
  /** The pieces of the element that is being read. */
  let pieces: Buffer[] = []
  let length = 0
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isInList = false
  /** The string that was read last in the outermost object, to know the list by. */
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
      // Not kept any more once it is too long, only counted.
      if (length <= LONGEST_LINE) pieces.push(buffer.subarray(start, read))
      else pieces = []
    }
    position += read
  }
}
