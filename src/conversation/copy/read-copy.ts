import { closeSync, fstatSync } from 'node:fs'
import { type Json, nameOf } from '../../harness/json-fields.ts'
import { parseLine } from '../../harness/claude/transcript-lines.ts'
import { openRegularFile } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'

const CHUNK = 1024 * 1024
const NEWLINE = 0x0a

/**
 * The lines of a copy, each once and in the order of the file. What cannot be read is passed over: a line that was
 * cut off was copied again behind it. No copy at all has no lines.
 */
export function* readCopy(path: string): Generator<Json> {
  const seen = new Set<string>()
  for (const bytes of linesOf(path)) {
    const line = parseLine(bytes)
    if (line === undefined) continue
    const identity = nameOf(line['uuid']) ?? bytes.toString('latin1')
    if (seen.has(identity)) continue
    seen.add(identity)
    yield line
  }
}

function* linesOf(path: string): Generator<Buffer> {
  const fd = openRegularFile(path)
  if (fd === undefined) return
  try {
    const { size } = fstatSync(fd)
    let rest = Buffer.alloc(0)
    for (let from = 0; from < size; from += CHUNK) {
      const bytes = Buffer.concat([rest, readRange(fd, from, Math.min(size, from + CHUNK))])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        yield bytes.subarray(start, end)
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
    yield rest
  } finally {
    closeSync(fd)
  }
}
