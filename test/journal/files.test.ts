import {
  closeSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createFile,
  createFolder,
  linkFile,
  moveFile,
  openForAppend,
  relinkFile,
  removeEmptyFolder,
  removeFile,
  replaceFile,
  sweepTemporaries,
  touchFile,
} from '../../src/journal/write-files.ts'
import { scratchFolder } from '../support/scratch.ts'

describe('a file', () => {
  test('is created once, complete, and never over another file', () => {
    const folder = scratchFolder()
    expect(createFile(join(folder, 'a'), 'first')).toBe(true)
    expect(createFile(join(folder, 'a'), 'second')).toBe(false)
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('first')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('keeps its permissions when it is replaced', () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'a'), 'old', { mode: 0o640 })
    replaceFile(join(folder, 'a'), 'new')
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('new')
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('leaves no temporary file when replacing it fails', () => {
    const folder = scratchFolder()
    mkdirSync(join(folder, 'a'))
    expect(() => replaceFile(join(folder, 'a'), 'new')).toThrow()
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('is moved, removed and touched, and a missing file is not an error', () => {
    const folder = scratchFolder()
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    expect(moveFile(a, b)).toBe(false)
    expect(removeFile(a)).toBe(false)
    touchFile(a)
    utimesSync(a, 1, 1)
    touchFile(a)
    expect(statSync(a).mtimeMs).toBeGreaterThan(1000)
    expect(moveFile(a, b)).toBe(true)
    expect(removeFile(b)).toBe(true)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a folder', () => {
  test('is removed only when it is empty', () => {
    const folder = scratchFolder()
    const inner = join(folder, 'a', 'b')
    createFolder(inner)
    expect(removeEmptyFolder(join(folder, 'a'))).toBe(false)
    expect(removeEmptyFolder(inner)).toBe(true)
    expect(removeEmptyFolder(inner)).toBe(false)
    expect(readdirSync(join(folder, 'a'))).toEqual([])
  })
})

describe('a hard link', () => {
  test('is refused when the name is taken', () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'a'), 'a')
    writeFileSync(join(folder, 'b'), 'b')
    expect(linkFile(join(folder, 'a'), join(folder, 'b'))).toBe(false)
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('b')
  })

  test("replaces another file's name and leaves no temporary, also when it is already ours", () => {
    const folder = scratchFolder()
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    writeFileSync(a, 'a')
    writeFileSync(b, 'b')
    const fd = openForAppend(a)
    expect(relinkFile(a, fd, b)).toBe(true)
    expect(relinkFile(a, fd, b)).toBe(true)
    closeSync(fd)
    expect(statSync(b).ino).toBe(statSync(a).ino)
    expect(readdirSync(folder).toSorted()).toEqual(['a', 'b'])
  })

  test('is not created for a file that replaced the intended one', () => {
    const folder = scratchFolder()
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    writeFileSync(a, 'a')
    writeFileSync(b, 'b')
    const fd = openForAppend(a)
    moveFile(b, a)
    expect(relinkFile(a, fd, b)).toBe(false)
    closeSync(fd)
    expect(readdirSync(folder)).toEqual(['a'])
  })
})

test('a folder is created with its parents, and creating it again is no error', () => {
  const folder = join(scratchFolder(), 'a/b/c')
  createFolder(folder)
  createFolder(folder)
  expect(statSync(folder).isDirectory()).toBe(true)
})

test('only old temporary files are swept', () => {
  const folder = scratchFolder()
  const temporary = '.log.jsonl.0123456789ab.tmp'
  writeFileSync(join(folder, 'log.jsonl'), '')
  utimesSync(join(folder, 'log.jsonl'), 1, 1)
  // A new hard link is as old as the log it names.
  linkSync(join(folder, 'log.jsonl'), join(folder, temporary))
  expect(sweepTemporaries(folder)).toBe(0)
  expect(sweepTemporaries(folder, -1)).toBe(1)
  expect(sweepTemporaries(join(folder, 'nothing'))).toBe(0)
  expect(readdirSync(folder)).toEqual(['log.jsonl'])
})
