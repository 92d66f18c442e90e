// How far each file was imported. Without a cursor everything is read again, and nothing is stored
// twice.
import { join } from 'node:path'
import { sha256 } from '../../history/blobs.ts'
import { NotWritten, errnoOf } from '../../journal/errors.ts'
import {
  createFolderUnsynced,
  inSpiteOfRemoval,
  removeFile,
  replaceUnsynced,
} from '../../journal/files.ts'
import { edgesBefore } from '../../journal/read.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { type Json, objectOf, parseJson } from '../../text/json-fields.ts'

export interface Cursor {
  readonly conversation: string
  readonly inode: number
  readonly size: number
  readonly mtime: number
  readonly offset: number
  /** A checksum over both ends of what precedes the offset. */
  readonly edges: number
  readonly memory: Json
}

export interface FileIdentity {
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
}

export class Cursors {
  constructor(readonly folder: string) {}

  read(name: string): Json | undefined {
    const bytes = readOrUndefined(this.#path(name))
    // Truncated, or of another version: as if absent.
    return bytes === undefined ? undefined : objectOf(parseJson(bytes.toString('utf8')))
  }

  write(name: string, value: object): void {
    const text = JSON.stringify(value)
    const path = this.#path(name)
    try {
      inSpiteOfRemoval(() => {
        createFolderUnsynced(this.folder)
        replaceUnsynced(path, text)
      })
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      throw new NotWritten(path, error)
    }
  }

  forget(name: string): void {
    removeFile(this.#path(name))
  }

  #path(name: string): string {
    return join(this.folder, `${sha256(name).slice(0, 32)}.json`)
  }
}

export function isUnchanged(cursor: Json | undefined, file: FileIdentity): boolean {
  return (
    cursor?.['inode'] === file.ino &&
    cursor['size'] === file.size &&
    cursor['mtime'] === file.mtimeMs
  )
}

/** Undefined unless the file still begins with what was read. */
export function validCursor(
  value: Json | undefined,
  fd: number,
  file: FileIdentity,
): Cursor | undefined {
  const cursor = value as Partial<Cursor> | undefined
  if (
    cursor?.inode !== file.ino ||
    typeof cursor.offset !== 'number' ||
    typeof cursor.conversation !== 'string'
  )
    return undefined
  if (!Number.isInteger(cursor.offset) || cursor.offset < 0 || cursor.offset > file.size)
    return undefined
  if (cursor.edges !== edgesBefore(fd, cursor.offset)) return undefined
  return { ...(cursor as Cursor), memory: objectOf(cursor.memory) ?? {} }
}
