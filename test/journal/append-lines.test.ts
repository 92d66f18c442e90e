import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  appendLines,
  openRegularFile,
  removeFile,
  takeLock,
} from '../../src/journal/write-files.ts'
import { scratchFolder } from '../support/scratch.ts'

const scratchPath = (name = 'file') => join(scratchFolder(), name)

describe('appended lines', () => {
  test('create a file that only its owner can read', () => {
    const path = scratchPath()
    appendLines(path, Buffer.from('one\n'))
    appendLines(path, Buffer.from('two\nthree\n'))
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('start on a new line after a torn one', () => {
    const path = scratchPath()
    writeFileSync(path, 'whole\ncut o')
    appendLines(path, Buffer.from('next\n'))
    expect(readFileSync(path, 'utf8')).toBe('whole\ncut o\nnext\n')
  })

  test("do not follow a symbolic link at the file's path", () => {
    const [path, elsewhere] = [scratchPath(), scratchPath('elsewhere')]
    writeFileSync(elsewhere, '')
    symlinkSync(elsewhere, path)
    expect(() => appendLines(path, Buffer.from('one\n'))).toThrow()
    expect(readFileSync(elsewhere, 'utf8')).toBe('')
  })

  test("are not written into a pipe at the file's path", () => {
    const path = scratchPath()
    execFileSync('mkfifo', [path])
    expect(() => appendLines(path, Buffer.from('one\n'))).toThrow()
  })
})

describe('a lock', () => {
  test('belongs to one process until it is removed', () => {
    const path = scratchPath()
    expect(takeLock(path, 10_000)).toBe(true)
    expect(takeLock(path, 10_000)).toBe(false)
    removeFile(path)
    expect(takeLock(path, 10_000)).toBe(true)
  })

  test.each([-60, 60])(
    'taken %d seconds from now is stale and goes to the next process',
    (seconds) => {
      const path = scratchPath()
      takeLock(path, 10_000)
      const then = Date.now() / 1000 + seconds
      utimesSync(path, then, then)
      expect(takeLock(path, 10_000)).toBe(true)
      expect(takeLock(path, 10_000)).toBe(false)
    },
  )

  test('cannot be taken in a missing folder', () => {
    expect(() => takeLock(join(scratchFolder(), 'none', 'lock'), 10_000)).toThrow()
  })
})

test('opening a file for reading does not create it', () => {
  const path = scratchPath()
  expect(openRegularFile(path)).toBeUndefined()
  expect(existsSync(path)).toBe(false)
})
