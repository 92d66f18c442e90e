import { closeSync, openSync, writeSync } from 'node:fs'
import { beforeEach, expect, test, vi } from 'vitest'
import { readTailChunk } from '../../src/harness/contract/transcript-lines.ts'
import { answered, said } from '../capture/transcript.ts'
import { Copying } from './copy.world.ts'

const count = vi.hoisted(() => ({ bytesRead: 0 }))

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const readSync = (...args: Parameters<typeof fs.readSync>) => {
    const read = fs.readSync(...args)
    count.bytesRead += read
    return read
  }
  return { ...fs, readSync }
})

beforeEach(() => {
  count.bytesRead = 0
})

const MEGABYTE = 1024 * 1024

/** A transcript of fifty megabytes. */
function large(): Copying {
  const copying = new Copying()
  const block = Array.from(
    { length: 200 },
    (_, index) => `${(index % 2 === 0 ? said : answered)(`${index} ${'word '.repeat(1000)}`)}\n`,
  ).join('')
  const fd = openSync(copying.transcript, 'w')
  for (let written = 0; written < 50 * MEGABYTE;) written += writeSync(fd, block)
  closeSync(fd)
  return copying
}

test('copying a chunk reads no more than the chunk', () => {
  const copying = large()
  for (let call = 1; call <= 20; call += 1) {
    copying.copy({ maxBytes: 65_536 })
    // Plus the last byte of the copy, to check whether it ends a line.
    expect(count.bytesRead).toBeLessThanOrEqual(call * (65_536 + 1))
  }
})

test('inspecting a chunk reads no more than the chunk, wherever it is', () => {
  const { transcript } = large()
  const piece = readTailChunk(transcript, undefined, 131_072)!
  expect(count.bytesRead).toBeLessThanOrEqual(2 * 131_072 + 1)
  count.bytesRead = 0
  readTailChunk(transcript, { offset: 25 * MEGABYTE, inode: piece.inode }, 131_072)
  expect(count.bytesRead).toBeLessThanOrEqual(131_072)
})

test('a line longer than a chunk is read to its own end only', () => {
  const copying = new Copying().write(
    `${said('x'.repeat(300_000))}\n`,
    ...Array.from({ length: 100 }, () => `${said('y'.repeat(100_000))}\n`),
  )
  copying.copy({ maxBytes: 65_536 })
  expect(count.bytesRead).toBeLessThan(700_000)
})
