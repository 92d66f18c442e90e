// A blob is named by the hash of its content, so it never changes, is never written twice, and
// damage is detectable.
import { join } from 'node:path'
import {
  createFile,
  createFolder,
  createFolderUnsynced,
  openRegularFile,
  replaceFile,
  replaceUnsynced,
  touchFile,
} from '../journal/write-files.ts'
import { errnoOf } from '../journal/errors.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { type Json, asName, asObject, parseJson } from '../text/json-fields.ts'
import { type RedactOptions, redactDeep } from '../text/redact.ts'
import { blobsFolder } from './paths.ts'
import { closeSync, fstatSync } from 'node:fs'
import { readRange } from '../journal/read-log.ts'

interface BlobReference {
  readonly hash: string
  readonly length: number
}

const FRESH_MS = 60_000

export class Blobs {
  constructor(readonly folder: string) {}

  pathOf(hash: string): string {
    return join(this.folder, hash.slice(0, 2), hash)
  }

  /** Durable only on request: syncing each blob takes longer than everything else. */
  put(hash: string, text: string, isDurable: boolean): void {
    const bytes = Buffer.from(text)
    const path = this.pathOf(hash)
    const existing = statOrUndefined(path)
    // A power cut may have truncated an unsynced blob.
    if (existing?.size !== bytes.length)
      writeBlob(path, bytes, { exists: existing !== undefined, isDurable })
    // Touched, so that a prune sees that it is needed before the line that names it is written.
    else if (Date.now() - existing.mtimeMs > FRESH_MS) touchFile(path)
  }

  get({
    hash,
    length,
  }: BlobReference): { readonly text: string } | { readonly placeholder: string } {
    const bytes = readBlob(this.pathOf(hash))
    const name = hash.slice(0, 12)
    if (bytes === undefined)
      return { placeholder: `[${length} characters are not here any more: blob ${name}]` }
    if (sha256(bytes) !== hash)
      return { placeholder: `[${length} characters cannot be read: blob ${name} is damaged]` }
    return { text: bytes.toString('utf8') }
  }
}

function writeBlob(
  path: string,
  bytes: Buffer,
  { exists, isDurable }: { exists: boolean; isDurable: boolean },
) {
  const folder = join(path, '..')
  if (!isDurable) {
    createFolderUnsynced(folder)
    replaceUnsynced(path, bytes)
    return
  }
  createFolder(folder)
  if (exists) replaceFile(path, bytes)
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

export function blobReferenceTo(text: string): BlobReference {
  return { hash: sha256(text), length: text.length }
}

export function sha256(bytes: Buffer | string): string {
  // Loaded only here: most hook events have nothing to hash.
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
}

function parseReference(fields: Json): BlobReference | undefined {
  const { $blob: hash, length } = fields
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined
  return typeof length === 'number' && Object.keys(fields).length === 2
    ? { hash, length }
    : undefined
}

const MAX_INLINE_LENGTH = 16_384
const MAX_DEPTH = 400
const TOO_DEEP = '[left out: nested too deep]'
// A foreign `$blob` field must not be read as ours.
const BLOB_KEY = /^\$+blob$/

export interface ExtractedBlobs {
  readonly value: unknown
  readonly blobs: ReadonlyMap<string, string>
}

/**
 * Redacts secrets and moves long strings into blobs, without writing. A secret pattern in image
 * data is chance, and redacting would destroy the image.
 */
export function extractBlobs(
  value: unknown,
  redaction: RedactOptions,
  isClean = false,
): ExtractedBlobs {
  const blobs = new Map<string, string>()
  const addBlob = (text: string) => {
    const { hash, length } = blobReferenceTo(text)
    blobs.set(hash, text)
    return { $blob: hash, length }
  }
  const withoutImages = mapDeep(value, 0, (fields) => {
    const data = fields.data
    return typeof data === 'string' && isPicture(fields)
      ? { ...fields, data: addBlob(data) }
      : escapeBlobKeys(fields)
  })
  const redacted = isClean ? withoutImages : redactDeep(withoutImages, redaction).value
  const inlined = mapDeep(redacted, 0, undefined, (text) =>
    text.length > MAX_INLINE_LENGTH ? addBlob(text.toWellFormed()) : text,
  )
  return { value: inlined, blobs }
}

export function needsNoBlobs(json: string): boolean {
  // Ordered by how rare the first character is.
  return (
    json.length <= MAX_INLINE_LENGTH &&
    !json.includes('$blob"') &&
    !(json.includes('64"') && json.includes('"base64"'))
  )
}

export function restoreBlobs(
  value: unknown,
  get: (name: BlobReference, isPicture: boolean) => string,
  depth = 0,
  isImage = false,
): unknown {
  if (Array.isArray(value))
    return depth > MAX_DEPTH ? TOO_DEEP : value.map((item) => restoreBlobs(item, get, depth + 1))
  const fields = asObject(value)
  if (fields === undefined) return value
  const name = parseReference(fields)
  if (name !== undefined) return get(name, isImage)
  if (depth > MAX_DEPTH) return TOO_DEEP
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [
      BLOB_KEY.test(key) ? key.slice(1) : key,
      restoreBlobs(item, get, depth + 1, fields.type === 'base64'),
    ]),
  )
}

function* blobReferencesIn(value: unknown, depth = 0): Generator<BlobReference> {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  const name = Array.isArray(value) ? undefined : parseReference(value as Json)
  if (name !== undefined) yield name
  else for (const item of Object.values(value)) yield* blobReferencesIn(item, depth + 1)
}

function escapeBlobKeys(fields: Json): Json {
  if (!Object.keys(fields).some((key) => BLOB_KEY.test(key))) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [BLOB_KEY.test(key) ? `$${key}` : key, item]),
  )
}

function mapDeep(
  value: unknown,
  depth: number,
  object: ((fields: Json) => Json) | undefined,
  string: (text: string) => unknown = (text) => text,
): unknown {
  if (typeof value === 'string') return string(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(value)) return value.map((item) => mapDeep(item, depth + 1, object, string))
  const fields = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapDeep(item, depth + 1, object, string)]),
  )
  return object === undefined ? fields : object(fields)
}

const IMAGE_PREFIXES = new Map([
  ['image/png', 'iVBORw0KGgo'],
  ['image/jpeg', '/9j/'],
  ['image/gif', 'R0lGOD'],
  ['image/webp', 'UklGR'],
  ['application/pdf', 'JVBERi'],
])
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Decided by the content, not only by the type. */
export function isPicture({ type, media_type: mediaType, data }: Json): boolean {
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return false
  const prefix = IMAGE_PREFIXES.get(mediaType)
  return prefix !== undefined && data.startsWith(prefix) && isBase64(data)
}

export function isBase64(data: string): boolean {
  return BASE64.test(data)
}

export function listBlobs(sessions: string) {
  const folder = blobsFolder(sessions)
  const folders = listFolder(folder).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return folders.flatMap((prefix) =>
    listFolder(join(folder, prefix)).flatMap((hash) => {
      const path = join(folder, prefix, hash)
      const stat = /^[0-9a-f]{64}$/.test(hash) ? statOrUndefined(path) : undefined
      return stat === undefined ? [] : [{ hash, path, bytes: stat.size }]
    }),
  )
}

export function* blobHashesIn(path: string, onSkipped?: () => void): Generator<string> {
  for (const { line } of readConversationLines(path, 0, onSkipped))
    for (const { hash } of blobReferencesIn(line)) yield hash
}

export function* messageBlobHashesIn(path: string): Generator<string> {
  for (const { line } of readConversationLines(path))
    for (const { hash } of blobReferencesIn(withoutToolOutput(line))) yield hash
}

// Only where a line holds its blocks: a lookalike in a tool's input stays.
function withoutToolOutput({ toolUseResult: _output, ...line }: Json) {
  const [message, attachment] = [asObject(line.message), asObject(line.attachment)]
  return {
    ...line,
    message: message && { ...message, content: withoutOutputBlocks(message.content) },
    attachment: attachment && { ...attachment, prompt: withoutOutputBlocks(attachment.prompt) },
  }
}

function withoutOutputBlocks(content: unknown) {
  return Array.isArray(content) ? content.filter((block) => !isOutput(asObject(block))) : content
}

function isOutput(block: Json | undefined) {
  const type = block?.type
  return (
    typeof type === 'string' &&
    (type.endsWith('tool_result') || asObject(block!.source)?.type === 'base64')
  )
}

const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 0x0a

/**
 * `offset` is the byte after the line. Yields each line once, in file order. Unreadable lines are
 * skipped and reported: a torn line was written again after it.
 */
export function* readConversationLines(
  path: string,
  from = 0,
  onSkipped: () => void = () => undefined,
) {
  const seen = new Set<string>()
  for (const { bytes, offset } of readRawLines(path, from)) {
    const text = bytes.toString('utf8')
    const line = asObject(parseJson(text))
    if (line === undefined) {
      if (text.trim() !== '') onSkipped()
      continue
    }
    const identity = asName(line.uuid) ?? bytes.toString('latin1')
    if (seen.has(identity)) continue
    seen.add(identity)
    yield { line, offset }
  }
}

/** The last line may be complete without a newline. */
function* readRawLines(path: string, start: number) {
  const fd = openRegularFile(path)
  if (fd === undefined) return
  try {
    const { size } = fstatSync(fd)
    let rest: Buffer = Buffer.alloc(0)
    for (let from = start; from < size; from += CHUNK_BYTES) {
      const read = readRange(fd, from, Math.min(size, from + CHUNK_BYTES))
      const bytes = rest.length === 0 ? read : Buffer.concat([rest, read])
      let lineStart = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, lineStart)) {
        const offset = from + read.length - bytes.length + end + 1
        yield { bytes: bytes.subarray(lineStart, end), offset }
        lineStart = end + 1
      }
      rest = bytes.subarray(lineStart)
    }
    if (rest.length > 0) yield { bytes: rest, offset: size }
  } finally {
    closeSync(fd)
  }
}
