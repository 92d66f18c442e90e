import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../journal/files.ts'
import { readRange } from '../journal/read.ts'
import { type Json, nameOf, objectOf, parseJson } from '../text/json-fields.ts'

const CHUNK = 1024 * 1024
const NEWLINE = 0x0a

export interface LineAt {
  readonly line: Json
  /** Behind it. */
  readonly offset: number
}

/**
 * The lines of a stored conversation, each once and in the order of the file, a piece of it at a time. What cannot be read is
 * passed over, and told of: a line that was cut off was written again behind it. No file at all has no lines.
 */
export function* readLines(
  path: string,
  from = 0,
  passedOver: () => void = () => undefined,
): Generator<LineAt> {
  const seen = new Set<string>()
  for (const { bytes, offset } of wholeLinesOf(path, from)) {
    const text = bytes.toString('utf8')
    const line = objectOf(parseJson(text))
    if (line === undefined) {
      if (text.trim() !== '') passedOver()
      continue
    }
    const identity = nameOf(line['uuid']) ?? bytes.toString('latin1')
    if (seen.has(identity)) continue
    seen.add(identity)
    yield { line, offset }
  }
}

/** The last one, too, when nothing ends it: it may be whole. Going on from it later costs a line that cannot be read. */
function* wholeLinesOf(
  path: string,
  start: number,
): Generator<{ readonly bytes: Buffer; readonly offset: number }> {
  const fd = openRegularFile(path)
  if (fd === undefined) return
  try {
    const { size } = fstatSync(fd)
    let rest: Buffer = Buffer.alloc(0)
    for (let from = start; from < size; from += CHUNK) {
      const read = readRange(fd, from, Math.min(size, from + CHUNK))
      const bytes = rest.length === 0 ? read : Buffer.concat([rest, read])
      let begin = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
        yield {
          bytes: bytes.subarray(begin, end),
          offset: from + read.length - bytes.length + end + 1,
        }
        begin = end + 1
      }
      rest = bytes.subarray(begin)
    }
    if (rest.length > 0) yield { bytes: rest, offset: size }
  } finally {
    closeSync(fd)
  }
}
