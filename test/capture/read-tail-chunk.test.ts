import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  LONGEST_LINE,
  type FilePosition,
  readTailChunk,
} from '../../src/harness/contract/transcript-lines.ts'
import { scratchFolder } from '../support/scratch.ts'

const LINES = Array.from({ length: 100 }, (_, index) => `{"line":${index}}\n`)

function transcript(content: string | Buffer = LINES.join('')): string {
  const path = join(scratchFolder(), 'transcript.jsonl')
  writeFileSync(path, content)
  return path
}

const textOf = (path: string, last: FilePosition | undefined, maxBytes: number) =>
  readTailChunk(path, last, maxBytes)?.bytes.toString('utf8')

describe('an unread transcript', () => {
  test('is read whole when it is small', () => {
    expect(textOf(transcript(), undefined, 100_000)).toBe(LINES.join(''))
  })

  test('is read from a line near its end when it is large', () => {
    expect(textOf(transcript(), undefined, 30)).toBe(`${LINES[98]}${LINES[99]}`)
  })

  test('is read from a line that starts exactly where the chunk does', () => {
    const two = `${LINES[98]}${LINES[99]}`
    expect(textOf(transcript(), undefined, two.length)).toBe(two)
    expect(textOf(transcript(), undefined, two.length - 1)).toBe(LINES[99])
  })

  test('is not read when its last line is longer than a chunk', () => {
    const piece = readTailChunk(transcript(`{"a":1}\n"${'x'.repeat(1000)}"`), undefined, 100)
    expect(piece?.bytes).toHaveLength(0)
    expect(piece?.from).toBe(piece?.size)
  })
})

describe('a partly read transcript', () => {
  test('is read on from the last offset', () => {
    const path = transcript()
    const first = readTailChunk(path, undefined, 100_000)!
    appendFileSync(path, '{"new":1}\n')
    const next = readTailChunk(path, { offset: first.size, inode: first.inode }, 100_000)!
    expect(next.bytes.toString('utf8')).toBe('{"new":1}\n')
    expect(next.from).toBe(first.size)
  })

  test('is read chunk by chunk', () => {
    const path = transcript()
    const { inode } = readTailChunk(path, undefined, 0)!
    expect(textOf(path, { offset: 0, inode }, 25)).toBe(LINES.join('').slice(0, 25))
  })

  test.each<[string, (place: FilePosition) => FilePosition]>([
    ['shrank', ({ inode }) => ({ offset: 1_000_000, inode })],
    ['is another file now', ({ offset, inode }) => ({ offset, inode: inode + 1 })],
    ['has a wrong offset', ({ inode }) => ({ offset: -5, inode })],
    ['has a nonsensical offset', ({ inode }) => ({ offset: 'x' as never, inode })],
  ])('is read from a line near its end when it %s', (_, change) => {
    const path = transcript()
    const { size, inode } = readTailChunk(path, undefined, 0)!
    expect(textOf(path, change({ offset: size, inode }), 30)).toBe(`${LINES[98]}${LINES[99]}`)
  })

  test('is read from a line near its end when another file took its name', () => {
    const path = transcript()
    const { inode } = readTailChunk(path, undefined, 0)!
    const other = transcript('{"other":1}\n')
    renameSync(other, path)
    expect(textOf(path, { offset: 5, inode }, 1000)).toBe('{"other":1}\n')
  })
})

describe('a line longer than a chunk', () => {
  test('is returned completely', () => {
    const long = `"${'x'.repeat(5000)}"\n`
    const path = transcript(`${long}{"next":1}\n`)
    const { inode } = readTailChunk(path, undefined, 0)!
    expect(textOf(path, { offset: 0, inode }, 100)).toContain(long)
  })

  test('is returned in parts when it exceeds the longest line that is parsed', () => {
    const path = transcript(`"${'x'.repeat(3 * LONGEST_LINE)}"\n`)
    const { inode } = readTailChunk(path, undefined, 0)!
    expect(readTailChunk(path, { offset: 0, inode }, 100)?.bytes).toHaveLength(LONGEST_LINE)
  })
})

describe('an unreadable path gives nothing, without blocking:', () => {
  test('no file', () => {
    expect(readTailChunk(join(scratchFolder(), 'none'), undefined, 100)).toBeUndefined()
    expect(readTailChunk('/dev/null/none', undefined, 100)).toBeUndefined()
    expect(readTailChunk('bad\0name', undefined, 100)).toBeUndefined()
    expect(readTailChunk('', undefined, 100)).toBeUndefined()
  })

  test('a folder', () => {
    expect(readTailChunk(scratchFolder(), undefined, 100)).toBeUndefined()
  })

  test('a pipe without a writer', () => {
    const path = join(scratchFolder(), 'pipe')
    execFileSync('mkfifo', [path])
    expect(readTailChunk(path, undefined, 100)).toBeUndefined()
  })

  test('a device', () => {
    expect(readTailChunk('/dev/zero', undefined, 100)).toBeUndefined()
  })

  test('a socket', async () => {
    const path = join(scratchFolder(), 'socket')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => void server.close())
    expect(readTailChunk(path, undefined, 100)).toBeUndefined()
  })

  test('a circular link', () => {
    const path = join(scratchFolder(), 'circle')
    symlinkSync(path, path)
    expect(readTailChunk(path, undefined, 100)).toBeUndefined()
  })

  test.skipIf(process.getuid?.() === 0)('a file of another user', () => {
    const path = transcript()
    chmodSync(path, 0)
    expect(readTailChunk(path, undefined, 100)).toBeUndefined()
  })

  test('but an empty file is readable', () => {
    mkdirSync(join(scratchFolder(), 'x'))
    expect(readTailChunk(transcript(''), undefined, 100)).toMatchObject({ from: 0, size: 0 })
  })
})
