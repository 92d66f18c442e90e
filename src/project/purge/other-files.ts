import { closeSync, fstatSync, readdirSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { isMissing } from '../../journal/errors.ts'
import { moveFile, openToRead, replaceOpenFile, statOrUndefined } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'
import type { Needle } from './needle.ts'
import { rewriteLog } from './rewrite-log.ts'

/** Every file under a folder. Symbolic links are not followed: what they lead to is not ours. */
export function* filesUnder(folder: string): Iterable<string> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesUnder(path)
    else if (entry.isFile()) yield path
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Whether a file holds the text in any form. False when there is no such file. */
export function holds(path: string, needle: Needle): boolean {
  return withFile(path, (fd) => needle.isIn(readAll(fd))) ?? false
}

/** How often a file holds it. */
export function countIn(path: string, needle: Needle): number {
  return withFile(path, (fd) => needle.count(readAll(fd))) ?? 0
}

/** A file's text, or another when there is no such file. */
export function readTextOr(path: string, otherwise: string): string {
  return withFile(path, (fd) => readAll(fd).toString('utf8')) ?? otherwise
}

/** Takes the text out of a file's content. Answers how often it was there. */
export function scrubFile(path: string, needle: Needle, options: { dryRun: boolean }): number {
  // Logs that are no session's: those of runs and conversations, and what was set aside of a damaged link.
  if (/\.jsonl(?:\.|$)/.test(basename(path))) return rewriteLog({ path }, needle, options)
  const isYaml = /^\.ya?ml$/.test(extname(path))
  const count = withFile(path, (fd) => {
    const scrubbed = needle.scrubBytes(readAll(fd), { isYaml })
    if (scrubbed.count > 0 && !options.dryRun) replaceOpenFile(path, fd, scrubbed.value)
    return scrubbed.count
  })
  return count ?? 0
}

/** Takes the text out of a file's name. Answers the new name, or undefined when it was not in there. */
export function scrubFileName(path: string, needle: Needle): string | undefined {
  const { value, count } = needle.scrubName(basename(path))
  if (count === 0) return undefined
  const extension = extname(value)
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? value : `${basename(value, extension)}-${number}${extension}`
    const target = join(dirname(path), name)
    if (statOrUndefined(target) !== undefined) continue
    moveFile(path, target)
    return target
  }
}

function withFile<T>(path: string, work: (fd: number) => T): T | undefined {
  let fd: number
  try {
    fd = openToRead(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

function readAll(fd: number): Buffer {
  return readRange(fd, 0, fstatSync(fd).size)
}
