import { isCompact } from '../../text/compact-json.ts'
import { type Json, objectOf, parseJson } from '../../text/json-fields.ts'
import { LONGEST_LINE } from './read-piece.ts'

const NEWLINE = 0x0a

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
  // Longer than any line that is read: skipped, or it would be read forever.
  if (start === 0 && bytes.length >= longest) return { lines: [bytes], consumed: bytes.length }
  return { lines, consumed: start }
}

export function parseLine(line: Buffer): Json | undefined {
  return objectOf(parseJson(line.toString('utf8')))
}

/** Without white space between its parts, so that bytes can be searched. */
export function compacted(line: Buffer): Buffer {
  if (isCompact(line)) return line
  const fields = parseLine(line)
  return fields === undefined ? line : Buffer.from(JSON.stringify(fields))
}

// Quotes inside texts are escaped, so these are real keys.
const SIDECHAIN = Buffer.from('"isSidechain":true')
const MAIN_CHAIN = Buffer.from('"isSidechain":false')

/** Older clients write sub-agents into the same transcript. */
export function isOfDelegate(line: Buffer): boolean {
  if (!line.includes(SIDECHAIN)) return false
  // With both, one is inside a tool's input.
  return !line.includes(MAIN_CHAIN) || parseLine(line)?.['isSidechain'] === true
}
