import type { Json } from '../text/json-fields.ts'

/** How the kinds of files begin that are shown to models, in base64. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['iVBORw0KGgo'],
  'image/jpeg': ['/9j/'],
  'image/gif': ['R0lGOD'],
  'image/webp': ['UklGR'],
  'application/pdf': ['JVBERi'],
}
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Whether this is the source of a picture or a document, in fact and not only by what it calls itself. */
export function isPicture({ type, media_type: mediaType, data }: Json): boolean {
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return false
  const beginnings = Object.hasOwn(BEGINNINGS, mediaType) ? BEGINNINGS[mediaType]! : []
  return beginnings.some((beginning) => data.startsWith(beginning)) && isBase64(data)
}

export function isBase64(data: string): boolean {
  return BASE64.test(data)
}
