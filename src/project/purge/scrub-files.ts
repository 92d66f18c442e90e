import { closeSync, fstatSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { isMissing } from '../../journal/errors.ts'
import {
  PartialFile,
  moveFile,
  openToRead,
  removeFile,
  replaceFile,
  replaceOpenFile,
} from '../../journal/write-files.ts'
import { listEntries, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { readRange } from '../../journal/read-log.ts'
import { SafeChunker } from '../../text/safe-chunker.ts'
import type { PurgeMatcher } from './purge-matcher.ts'
import { rewriteLog } from './rewrite-log.ts'
import { Blobs, blobReferenceTo, listBlobs } from '../../history/blobs.ts'
import { withLock } from '../../history/lock.ts'
import { blobsFolder } from '../../history/paths.ts'
import { openConversationStore } from '../history/history.ts'
import type { Workspace } from '../store/workspace.ts'

/** Symbolic links are not followed: their targets are not ours. */
export function* filesUnder(folder: string): Iterable<string> {
  for (const entry of listEntries(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesUnder(path)
    else if (entry.isFile()) yield path
  }
}

export function fileContains(path: string, needle: PurgeMatcher): boolean {
  return withFile(path, (fd) => countOccurrences(fd, needle, 1) > 0) ?? false
}

export function countInFile(path: string, needle: PurgeMatcher): number {
  return withFile(path, (fd) => countOccurrences(fd, needle)) ?? 0
}

export function readTextOr(path: string, otherwise: string): string {
  return withFile(path, (fd) => readAll(fd).toString('utf8')) ?? otherwise
}

export function scrubFile(
  path: string,
  needle: PurgeMatcher,
  options: { dryRun: boolean },
): number {
  // Logs of conversations and claims, and quarantined links.
  if (/\.jsonl(?:\.|$)/.test(basename(path))) return rewriteLog({ path }, needle, options)
  const count = withFile(path, (fd) => {
    if (isLarge(fd)) return scrubLargeFile(path, fd, needle, options)
    const scrubbed = scrubBytes(path, readAll(fd), needle)
    if (scrubbed.count > 0 && !options.dryRun) replaceOpenFile(path, fd, scrubbed.value)
    return scrubbed.count
  })
  return count ?? 0
}

function scrubBytes(path: string, bytes: Buffer, needle: PurgeMatcher) {
  if (basename(path) !== 'tasks.json')
    return needle.scrubBytes(bytes, { isYaml: /^\.ya?ml$/.test(extname(path)) })
  // A run's tasks are named as in the backlog, so both must change alike.
  const { value, count } = needle.scrubJson(bytes)
  return count === 0 ? needle.scrubBytes(bytes) : { value, count }
}

export function scrubFileName(path: string, needle: PurgeMatcher): string | undefined {
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

function withFile<T>(path: string, work: (fd: number) => T) {
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

function readAll(fd: number) {
  return readRange(fd, 0, fstatSync(fd).size)
}

/** Larger files are read in chunks. */
const LARGE_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

function isLarge(fd: number) {
  return fstatSync(fd).size > LARGE_BYTES
}

function countOccurrences(fd: number, needle: PurgeMatcher, enough = Infinity) {
  let count = 0
  for (const chunk of isLarge(fd) ? readChunks(fd, needle) : [readAll(fd)]) {
    count += needle.count(chunk)
    if (count >= enough) break
  }
  return count
}

/** No chunk ends in the middle of the text. */
function* readChunks(fd: number, needle: PurgeMatcher): Generator<Buffer> {
  const scrubbed = (text: string) =>
    needle.scrubBytes(Buffer.from(text, 'latin1')).value.toString('latin1')
  const cuts = new SafeChunker(scrubbed)
  const { size } = fstatSync(fd)
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const chunk = cuts.push(readRange(fd, at, Math.min(at + CHUNK_BYTES, size)).toString('latin1'))
    if (chunk !== '') yield Buffer.from(chunk, 'latin1')
  }
  yield Buffer.from(cuts.flush(), 'latin1')
}

function scrubLargeFile(
  path: string,
  fd: number,
  needle: PurgeMatcher,
  { dryRun }: { dryRun: boolean },
) {
  const count = countOccurrences(fd, needle)
  if (count === 0 || dryRun) return count
  const file = new PartialFile(dirname(path))
  try {
    for (const chunk of readChunks(fd, needle)) file.write(needle.scrubBytes(chunk).value)
  } catch (error) {
    file.discard()
    throw error
  }
  file.replace(path, fd)
  return count
}

/**
 * Blobs are named by content: the lines that name one are rewritten, and the old blob goes last,
 * so that a killed purge can be repeated.
 */
export function scrubBlobs(
  workspace: Workspace,
  needle: PurgeMatcher,
  { dryRun }: { dryRun: boolean },
): ReadonlyMap<string, number> {
  const blobs = new Blobs(blobsFolder(workspace.paths.sessions))
  const found = new Map<string, number>()
  const renamed = new Map<string, string>()
  for (const { hash, path } of listBlobs(workspace.paths.sessions)) {
    const bytes = readOrUndefined(path)
    const count = bytes === undefined ? 0 : needle.count(bytes)
    if (bytes === undefined || count === 0) continue
    found.set(path, count)
    if (dryRun) continue
    const text = needle.scrubBytes(bytes).value.toString('utf8')
    const name = blobReferenceTo(text)
    blobs.put(name.hash, text, true)
    renamed.set(hash, `"$blob":"${name.hash}","length":${name.length}`)
  }
  if (renamed.size > 0) {
    for (const { path } of openConversationStore(workspace).list()) renameBlobsIn(path, renamed)
    for (const hash of renamed.keys()) removeFile(blobs.pathOf(hash))
  }
  return found
}

const BLOB_NAME = /"\$blob":"([0-9a-f]{64})","length":\d+/g

function renameBlobsIn(path: string, renamed: ReadonlyMap<string, string>) {
  withLock(path, () => {
    const before = readOrUndefined(path)?.toString('latin1') ?? ''
    const after = before.replace(BLOB_NAME, (name, hash: string) => renamed.get(hash) ?? name)
    if (after !== before) replaceFile(path, Buffer.from(after, 'latin1'))
    return {}
  })
}
