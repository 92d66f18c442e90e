import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../../journal/write-files.ts'
import { readRange } from '../../journal/read-log.ts'

const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 0x0a

export function* readFileLines(path: string): Generator<Buffer> {
  const fd = openRegularFile(path)
  if (fd === undefined) return
  try {
    const { size } = fstatSync(fd)
    let rest = Buffer.alloc(0)
    for (let from = 0; from < size; from += CHUNK_BYTES) {
      const bytes = Buffer.concat([rest, readRange(fd, from, Math.min(size, from + CHUNK_BYTES))])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        yield bytes.subarray(start, end)
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
    if (rest.length > 0) yield rest
  } finally {
    closeSync(fd)
  }
}
