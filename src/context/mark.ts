import { checksum } from '../journal/record.ts'

/** The mark by which a text of ours is recognised in a transcript. */
export const MARK_PATTERN = /\[stint:([0-9a-f]{8})\]/

/**
 * The mark of what stands above it: the same text has the same mark, and a text that lost its end has none.
 * It says nothing of who wrote the text.
 */
export function markOf(content: string): string {
  return checksum(Buffer.from(content))
}

export function markLine(mark: string): string {
  return `[stint:${mark}]`
}

/** The mark that a text carries; the last one where there are several. */
export function findMark(text: string): string | undefined {
  return [...text.matchAll(new RegExp(MARK_PATTERN, 'g'))].at(-1)?.[1]
}
