import { isCompact } from '../../text/compact-json.ts'
import { type Json, objectOf, parseJson } from '../../text/json-fields.ts'
import { LONGEST_LINE } from './read-piece.ts'

const NEWLINE = 0x0a

/** The lines of a piece that are whole, and the number of bytes they take. What follows is still being written. */
export function wholeLines(
  bytes: Buffer,
  longest = LONGEST_LINE,
): { readonly lines: readonly Buffer[]; readonly consumed: number } {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    if (end > start) lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  // Longer than any that is read: passed over, or it would be read again for ever.
  if (start === 0 && bytes.length >= longest) return { lines: [bytes], consumed: bytes.length }
  return { lines, consumed: start }
}

export function parseLine(line: Buffer): Json | undefined {
  return objectOf(parseJson(line.toString('utf8')))
}

/** A line as its bytes can be looked at: without white space between its parts, which hardly any has. */
export function compacted(line: Buffer): Buffer {
  if (isCompact(line)) return line
  const fields = parseLine(line)
  return fields === undefined ? line : Buffer.from(JSON.stringify(fields))
}

// A quote inside of a text is written with a backslash, so that these are never a part of what somebody said.
const SIDECHAIN = Buffer.from('"isSidechain":true')
const MAIN_CHAIN = Buffer.from('"isSidechain":false')

/** Whether a delegated agent said this. Older clients write that into the transcript of the conversation itself. */
export function isOfDelegate(line: Buffer): boolean {
  if (!line.includes(SIDECHAIN)) return false
  // Both: one of them is an argument that somebody gave to a tool.
  return !line.includes(MAIN_CHAIN) || parseLine(line)?.['isSidechain'] === true
}
