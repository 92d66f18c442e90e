import type { Part } from '../../history/items.ts'

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/

/** The picture that an address leads to, or holds. */
export function pictureAt(url: string): Part {
  const [start, mediaType] = DATA_URL.exec(url) ?? []
  if (start === undefined || mediaType === undefined) return { type: 'image link', url }
  return { type: 'image', mediaType, data: url.slice(start.length) }
}
