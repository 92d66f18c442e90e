// The one place that decides what a terminal may receive of texts that others wrote.
import { withoutControls } from './clean.ts'

// Bidirectional controls, zero-width and other invisible characters, private use, noncharacters. Written as ranges: a pattern over Unicode
// properties takes milliseconds to compile. A test compares them with the properties.
const HIDDEN = String.raw`[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uE000-\uF8FF\uFDD0-\uFDEF\uFE00-\uFE0E\uFEFF\uFFA0\uFFF0-\uFFFB]|\uD82F[\uDCA0-\uDCA3]|\uD834[\uDD73-\uDD7A]|[\uDB40-\uDB43\uDB80-\uDBFF][\uDC00-\uDFFF]`

/** Scripts and emoji need joiners and the emoji style, which are not in it. */
export const INVISIBLE = new RegExp(HIDDEN, 'g')

// A joiner joins two characters that are not ASCII; the emoji style follows one, or is part of a keycap. Each is judged by characters that
// stay, so one pass is enough.
const BASE = String.raw`[^\u0000-\u007F\u200C-\u200D\uFE0F]`
const STRAY_JOINER = new RegExp(
  String.raw`(?<!${BASE}|[\d#*])\uFE0F|(?<!${BASE}\uFE0F?)[\u200C-\u200D]|[\u200C-\u200D](?!${BASE})`,
  'g',
)

const PLAIN = /^[\n\t -~]*$/

/** Text for a terminal: nothing in it steers the terminal, changes the order of what is read, or hides. Idempotent. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text
  return withoutControls(text).replace(INVISIBLE, '').replace(STRAY_JOINER, '')
}

export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', ' ')
}

const NOT_IN_JSON = new RegExp(String.raw`[\u007F-\u009F\u2028\u2029]|${HIDDEN}`, 'g')

/** JSON of the same value whose bytes are harmless: what `printable` removes is escaped. */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent)
  return PLAIN.test(json) ? json : json.replace(NOT_IN_JSON, escaped).replace(STRAY_JOINER, escaped)
}

function escaped(characters: string) {
  return Array.from(
    { length: characters.length },
    (_, at) => `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
}
