// Files as an agent's tools see them: text, of a size that can be worked with, and nothing but plain files.
import { closeSync, fstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isMissing } from '../../../../journal/errors.ts'
import { openRegularFile } from '../../../../journal/files.ts'

/** Told to the model instead of a result. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

const LARGEST = 8 * 1024 * 1024

/** Opens a file to be read, for as long as the work on it takes. */
export function withFile<T>(path: string, work: (fd: number, size: number) => T): T {
  const fd = openRegularFile(path)
  if (fd === undefined) throw new ToolFault(whyNot(path))
  try {
    return work(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

/** All of a text file. */
export function wholeText(path: string): string {
  return withFile(path, (fd, size) => {
    if (size > LARGEST)
      throw new ToolFault(`${path} has ${size} bytes, too many to edit this way; use the shell`)
    return decoded(readFileSync(fd), path)
  })
}

/** Bytes as text, when they are nothing else: what is read must be able to be written back as it was. */
export function decoded(bytes: Uint8Array, path: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Not UTF-8.
  }
  throw new ToolFault(
    `${path} is no text in UTF-8, and is not shown or edited; look at it with the shell`,
  )
}

/** Where a name leads, so that a link stays a link when its file is written. */
export function behindLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}

function whyNot(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return `there is no file ${path}`
  if (found.isDirectory()) return `${path} is a folder; list it with the shell`
  return found.isFile() ? `${path} cannot be read` : `${path} is no plain file`
}
