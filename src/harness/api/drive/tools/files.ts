import { closeSync, fstatSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isMissing } from '../../../../journal/errors.ts'
import {
  OPEN_TO_OTHERS,
  createFolderUnsynced,
  openRegularFile,
  replaceProjectFile,
} from '../../../../journal/write-files.ts'
import { redactionsIn } from '../../../../text/redact.ts'

export class ToolError extends Error {
  override readonly name = 'ToolFault'
}

const MAX_EDIT_BYTES = 8 * 1024 * 1024

function withOpenFile<T>(path: string, work: (fd: number, size: number) => T): T {
  const fd = openRegularFile(path)
  if (fd === undefined) throw new ToolError(readError(path))
  try {
    return work(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function readTextFile(path: string): string {
  return withOpenFile(path, (fd, size) => {
    if (size > MAX_EDIT_BYTES)
      throw new ToolError(`${path} has ${size} bytes, too many to edit this way; use the shell`)
    return decodeText(readFileSync(fd), path)
  })
}

/** Only what can be written back unchanged counts as text. */
function decodeText(bytes: Uint8Array, path: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Not UTF-8.
  }
  throw new ToolError(
    `${path} is no text in UTF-8, and is not shown or edited; look at it with the shell`,
  )
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}

function readError(path: string) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return `there is no file ${path}`
  if (found.isDirectory()) return `${path} is a folder; list it with the shell`
  return found.isFile() ? `${path} cannot be read` : `${path} is no plain file`
}

const MAX_BYTES = 48 * 1024
const MAX_LINES = 2000
const CHUNK_BYTES = 256 * 1024
const MAX_SEARCH_BYTES = 512 * 1024 * 1024
const LF = 10

export function readLineRange(path: string, from = 1, limit = MAX_LINES): string {
  return withOpenFile(path, (fd, size) => {
    const { bytes, lines, isComplete } = readRange(fd, from, Math.min(limit, MAX_LINES), path)
    const text = decodeText(bytes, path)
    if (size === 0) return '[the file is empty]'
    if (bytes.length === 0) return `[the file has fewer than ${from} lines]`
    if (isComplete) return text
    const next = from + lines
    const rest =
      lines === 0 ? `line ${from} is longer than can be shown` : `go on with offset ${next}`
    return `${text}${text.endsWith('\n') ? '' : '\n'}[not all of the file, which has ${size} bytes: ${rest}]`
  })
}

function readRange(fd: number, from: number, limit: number, path: string) {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const parts: Buffer[] = []
  let [line, length, position] = [1, 0, 0]
  for (;;) {
    const read = readSync(fd, chunk, 0, CHUNK_BYTES, position)
    if (read === 0) return { bytes: Buffer.concat(parts), lines: line - from, isComplete: true }
    position += read
    if (line < from && position > MAX_SEARCH_BYTES)
      throw new ToolError(`${path} is too long to look for line ${from}; use the shell`)
    let at = 0
    while (at < read) {
      const end = chunk.subarray(0, read).indexOf(LF, at)
      const next = end === -1 ? read : end + 1
      if (line >= from) {
        const room = MAX_BYTES - length
        if (line >= from + limit || (next - at > room && line > from))
          return truncated(parts, line - from)
        const size = Math.min(next - at, room)
        parts.push(Buffer.from(chunk.subarray(at, at + size)))
        length += size
        if (size < next - at) return truncated(parts, 0)
      }
      if (end !== -1) line += 1
      at = next
    }
  }
}

function truncated(parts: readonly Buffer[], lines: number) {
  const bytes = Buffer.concat(parts)
  if (lines > 0)
    return { bytes: bytes.subarray(0, bytes.lastIndexOf(LF) + 1), lines, isComplete: false }
  let end = bytes.length
  // A multi-byte character may be cut; at most three of its bytes are here.
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    if (wanted > back) end = bytes.length - back
    break
  }
  return { bytes: bytes.subarray(0, end), lines, isComplete: false }
}

export function writeFile(path: string, content: string): string {
  const real = resolveLinks(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new ToolError(`${path} is a folder`)
  if (found !== undefined && !found.isFile()) throw new ToolError(`${path} is no plain file`)
  refuseRedactionMarkers(path, found === undefined ? '' : readTextOrEmpty(real), content)
  createFolderUnsynced(dirname(real), OPEN_TO_OTHERS)
  replaceProjectFile(real, content)
  return `${found === undefined ? 'Written' : 'Replaced'}: ${path}, ${Buffer.byteLength(content)} bytes.`
}

export function editFile(path: string, old: string, replacement: string): string {
  if (old === '') throw new ToolError('old_text is empty; use write for a new file')
  if (old === replacement) throw new ToolError('old_text and new_text are the same')
  const text = readTextFile(path)
  const at = text.indexOf(old)
  if (at === -1)
    throw new ToolError(
      `old_text does not stand in ${path}${describeNearMiss(text, old)}; read the file and copy it exactly`,
    )
  if (text.indexOf(old, at + 1) !== -1)
    throw new ToolError(
      `old_text stands in ${path} ${countOccurrences(text, old)} times; give more of what is around it`,
    )
  const edited = `${text.slice(0, at)}${replacement}${text.slice(at + old.length)}`
  refuseRedactionMarkers(path, text, edited)
  replaceProjectFile(resolveLinks(path), edited)
  return `Edited: ${path}.`
}

/**
 * The model sees a redaction marker in place of a secret, and would overwrite the secret with it.
 */
function refuseRedactionMarkers(path: string, before: string, after: string) {
  const marker = redactionsIn(after).find(
    (marker) => countOccurrences(after, marker) > countOccurrences(before, marker),
  )
  if (marker === undefined) return
  throw new ToolError(
    `${marker} stands for a secret that is not shown to you, and ${path} would have the mark in its place; nothing was written. ` +
      'Edit around the secret with the tool edit, or change the file with the shell.',
  )
}

function readTextOrEmpty(path: string) {
  try {
    return readTextFile(path)
  } catch (error) {
    if (error instanceof ToolError) return ''
    throw error
  }
}

function describeNearMiss(text: string, old: string) {
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(old))
    return ' (its lines end with CR LF)'
  const withoutSpace = (string: string) => string.replaceAll(/\s+/g, '')
  return withoutSpace(old) !== '' && withoutSpace(text).includes(withoutSpace(old))
    ? ' (but for its white space)'
    : ''
}

function countOccurrences(text: string, part: string) {
  let times = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) times += 1
  return times
}
