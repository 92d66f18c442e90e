import { readSync } from 'node:fs'
import { ToolFault, decoded, withFile } from './text-files.ts'

const MOST_BYTES = 48 * 1024
const MOST_LINES = 2000
const PIECE = 256 * 1024
/** Nobody waits for the lines behind more than this. */
const FARTHEST = 512 * 1024 * 1024
const LF = 10

/** A piece of a file by its lines, and how to get the next one. */
export function readLines(path: string, from = 1, limit = MOST_LINES): string {
  return withFile(path, (fd, size) => {
    const { bytes, lines, isAll } = linesBetween(fd, from, Math.min(limit, MOST_LINES), path)
    const text = decoded(bytes, path)
    if (size === 0) return '[the file is empty]'
    if (bytes.length === 0) return `[the file has fewer than ${from} lines]`
    if (isAll) return text
    const next = from + lines
    const rest =
      lines === 0 ? `line ${from} is longer than can be shown` : `go on with offset ${next}`
    return `${text}${text.endsWith('\n') ? '' : '\n'}[not all of the file, which has ${size} bytes: ${rest}]`
  })
}

interface Lines {
  readonly bytes: Buffer
  /** How many of them are whole. */
  readonly lines: number
  readonly isAll: boolean
}

function linesBetween(fd: number, from: number, limit: number, path: string): Lines {
  const piece = Buffer.alloc(PIECE)
  const kept: Buffer[] = []
  let [line, length, position] = [1, 0, 0]
  for (;;) {
    const read = readSync(fd, piece, 0, PIECE, position)
    if (read === 0) return { bytes: Buffer.concat(kept), lines: line - from, isAll: true }
    position += read
    if (line < from && position > FARTHEST)
      throw new ToolFault(`${path} is too long to look for line ${from}; use the shell`)
    let at = 0
    while (at < read) {
      const end = piece.subarray(0, read).indexOf(LF, at)
      const next = end === -1 ? read : end + 1
      if (line >= from) {
        const room = MOST_BYTES - length
        if (line >= from + limit || (next - at > room && line > from)) return cut(kept, line - from)
        const taken = Math.min(next - at, room)
        kept.push(Buffer.from(piece.subarray(at, at + taken)))
        length += taken
        if (taken < next - at) return cut(kept, 0)
      }
      if (end !== -1) line += 1
      at = next
    }
  }
}

/** Ends with a whole line, or within the first one between two characters. */
function cut(kept: readonly Buffer[], lines: number): Lines {
  const bytes = Buffer.concat(kept)
  if (lines > 0) return { bytes: bytes.subarray(0, bytes.lastIndexOf(LF) + 1), lines, isAll: false }
  let end = bytes.length
  // A character of several bytes may have been cut through; at most three of its bytes are here.
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    if (wanted > back) end = bytes.length - back
    break
  }
  return { bytes: bytes.subarray(0, end), lines, isAll: false }
}
