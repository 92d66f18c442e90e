// Named by the hash of the content, so a blob is never changed, never written twice, and known to be damaged when it is.
import { join } from 'node:path'
import {
  createFile,
  createFolder,
  createFolderUnsynced,
  replaceFile,
  replaceUnsynced,
  touchFile,
} from '../journal/files.ts'
import { errnoOf } from '../journal/errors.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import type { Json } from '../text/json-fields.ts'

export interface BlobName {
  readonly hash: string
  /** In characters, for the message when it is missing. */
  readonly length: number
}

const FRESH_MS = 60_000

export class Blobs {
  constructor(readonly folder: string) {}

  pathOf(hash: string): string {
    return join(this.folder, hash.slice(0, 2), hash)
  }

  /** Durable only when asked: syncing each takes longer than all else. */
  put(hash: string, text: string, isDurable: boolean): void {
    const bytes = Buffer.from(text)
    const path = this.pathOf(hash)
    const there = statOrUndefined(path)
    // A power cut may have cut one that was not synced.
    if (there?.size !== bytes.length)
      write(path, bytes, { isThere: there !== undefined, isDurable })
    // Renewed, so that a collector sees it is needed before the line that names it is written.
    else if (Date.now() - there.mtimeMs > FRESH_MS) touchFile(path)
  }

  get({ hash, length }: BlobName): { readonly text: string } | { readonly standIn: string } {
    const bytes = readBlob(this.pathOf(hash))
    const name = hash.slice(0, 12)
    if (bytes === undefined)
      return { standIn: `[${length} characters are not here any more: blob ${name}]` }
    if (sha256(bytes) !== hash)
      return { standIn: `[${length} characters cannot be read: blob ${name} is damaged]` }
    return { text: bytes.toString('utf8') }
  }
}

function write(
  path: string,
  bytes: Buffer,
  { isThere, isDurable }: { isThere: boolean; isDurable: boolean },
) {
  const folder = join(path, '..')
  if (!isDurable) {
    createFolderUnsynced(folder)
    replaceUnsynced(path, bytes)
    return
  }
  createFolder(folder)
  if (isThere) replaceFile(path, bytes)
  else createFile(path, bytes)
}

function readBlob(path: string) {
  try {
    return readOrUndefined(path)
  } catch (error) {
    // A failing disk or missing permission counts as missing.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

export function blobNameOf(text: string): BlobName {
  return { hash: sha256(text), length: text.length }
}

export function sha256(bytes: Buffer | string): string {
  // Loaded only here: most hook events have nothing to hash.
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
}

export function blobNameIn(fields: Json): BlobName | undefined {
  const { $blob: hash, length } = fields
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined
  return typeof length === 'number' && Object.keys(fields).length === 2
    ? { hash, length }
    : undefined
}
