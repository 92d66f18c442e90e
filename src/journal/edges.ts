import { crc32 } from './crc32.ts'
import { readRange } from './read.ts'

const EDGE = 4096

/** A sum over both ends of what a file holds before an offset, by which it is known again when it has only grown. */
export function edgesBefore(fd: number, offset: number): number {
  const start = readRange(fd, 0, Math.min(EDGE, offset))
  return crc32(readRange(fd, Math.max(0, offset - EDGE), offset), crc32(start))
}
