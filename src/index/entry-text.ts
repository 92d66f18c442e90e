import { isId } from '../journal/ids.ts'
import type { RawEntry } from '../session/effective-entries.ts'
import { entryProse } from '../session/registry.ts'

// Scripts without spaces: a zero-width space behind each character makes it a word, so a phrase is found anywhere.
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu
const MAYBE_UNSPACED = /[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\uffff\ud840-\ud8ff]/
// Data nested a hundred thousand deep would end the process.
const DEPTH_LIMIT = 20
const ZERO_WIDTH_SPACE = '\u200b'

export function entryText(entry: RawEntry): string {
  const parts: string[] = []
  collect(entryProse(entry), parts, DEPTH_LIMIT)
  // SQLite replaces a broken character, and the text would never compare equal to itself.
  return separateWords(parts.join('\n').toWellFormed())
}

export function separateWords(text: string): string {
  return MAYBE_UNSPACED.test(text) ? text.replace(UNSPACED, `$&${ZERO_WIDTH_SPACE}`) : text
}

export function joinWords(text: string): string {
  return text.replaceAll(ZERO_WIDTH_SPACE, '')
}

function collect(value: unknown, parts: string[], depth: number) {
  if (depth === 0) return
  if (typeof value === 'string') {
    if (value !== '' && value !== 'start' && !isId(value)) parts.push(value)
  } else if (Array.isArray(value)) {
    for (const element of value) collect(element, parts, depth - 1)
  } else if (typeof value === 'object' && value !== null) {
    for (const field of Object.values(value)) collect(field, parts, depth - 1)
  }
}
