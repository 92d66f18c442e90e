import { type Json, objectOf } from '../text/json-fields.ts'
import { type RedactOptions, redactDeep } from '../text/redact.ts'
import { type BlobName, blobNameIn, blobNameOf } from './blobs.ts'

/** A longer string becomes a blob. */
const LONGEST = 16_384
const DEEPEST = 400
const TOO_DEEP = '[left out: nested too deep]'
// A foreign `$blob` field must not be read as ours.
const LIKE_BLOB = /^\$+blob$/

export interface Kept {
  readonly value: unknown
  readonly blobs: ReadonlyMap<string, string>
}

/** Removes secrets and moves long strings into blobs, without writing. A lookalike secret in a picture is chance, and redacting would destroy it. */
export function toKeep(value: unknown, redaction: RedactOptions, isClean = false): Kept {
  const blobs = new Map<string, string>()
  const named = (text: string) => {
    const { hash, length } = blobNameOf(text)
    blobs.set(hash, text)
    return { $blob: hash, length }
  }
  const withoutPictures = mapped(value, 0, (fields) => {
    const data = fields['data']
    return typeof data === 'string' && isPicture(fields)
      ? { ...fields, data: named(data) }
      : escaped(fields)
  })
  const redacted = isClean ? withoutPictures : redactDeep(withoutPictures, redaction).value
  const short = mapped(redacted, 0, undefined, (text) =>
    text.length > LONGEST ? named(text.toWellFormed()) : text,
  )
  return { value: short, blobs }
}

/** Whether its JSON can be written as it stands. */
export function isPlain(json: string): boolean {
  // The rarest first character first.
  return (
    json.length <= LONGEST &&
    !json.includes('$blob"') &&
    !(json.includes('64"') && json.includes('"base64"'))
  )
}

/** `get` returns the blob's content, or a text that says why it is missing. */
export function asItWas(
  value: unknown,
  get: (name: BlobName, isPicture: boolean) => string,
  depth = 0,
  isPictured = false,
): unknown {
  if (Array.isArray(value))
    return depth > DEEPEST ? TOO_DEEP : value.map((item) => asItWas(item, get, depth + 1))
  const fields = objectOf(value)
  if (fields === undefined) return value
  const name = blobNameIn(fields)
  if (name !== undefined) return get(name, isPictured)
  if (depth > DEEPEST) return TOO_DEEP
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [
      LIKE_BLOB.test(key) ? key.slice(1) : key,
      asItWas(item, get, depth + 1, fields['type'] === 'base64'),
    ]),
  )
}

export function* blobsIn(value: unknown, depth = 0): Generator<BlobName> {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  const name = Array.isArray(value) ? undefined : blobNameIn(value as Json)
  if (name !== undefined) yield name
  else for (const item of Object.values(value)) yield* blobsIn(item, depth + 1)
}

function escaped(fields: Json): Json {
  if (!Object.keys(fields).some((key) => LIKE_BLOB.test(key))) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [LIKE_BLOB.test(key) ? `$${key}` : key, item]),
  )
}

function mapped(
  value: unknown,
  depth: number,
  object: ((fields: Json) => Json) | undefined,
  string: (text: string) => unknown = (text) => text,
): unknown {
  if (typeof value === 'string') return string(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return TOO_DEEP
  if (Array.isArray(value)) return value.map((item) => mapped(item, depth + 1, object, string))
  const fields = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapped(item, depth + 1, object, string)]),
  )
  return object === undefined ? fields : object(fields)
}

/** How these files begin, in base64. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['iVBORw0KGgo'],
  'image/jpeg': ['/9j/'],
  'image/gif': ['R0lGOD'],
  'image/webp': ['UklGR'],
  'application/pdf': ['JVBERi'],
}
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** By its content, not only by its type. */
export function isPicture({ type, media_type: mediaType, data }: Json): boolean {
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return false
  const beginnings = Object.hasOwn(BEGINNINGS, mediaType) ? BEGINNINGS[mediaType]! : []
  return beginnings.some((beginning) => data.startsWith(beginning)) && isBase64(data)
}

export function isBase64(data: string): boolean {
  return BASE64.test(data)
}
