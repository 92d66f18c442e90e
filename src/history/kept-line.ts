import { mayHoldSecret } from '../text/may-hold-secret.ts'
import type { Json } from '../text/json-fields.ts'
import type { RedactOptions } from '../text/redact.ts'
import { isPlain, toKeep } from './large-strings.ts'
import type { NewItem } from './items.ts'
import { messageLine } from './line-of-item.ts'

export interface KeptLine {
  readonly text: string
  /** What it names, which has to be written first. */
  readonly blobs: ReadonlyMap<string, string>
}

const NO_BLOBS: ReadonlyMap<string, string> = new Map()

/** A line as it is written. Most hold no secret, and are told from those that may by a look at their text. */
export function keptLine(line: Json, redaction: RedactOptions): KeptLine {
  const text = JSON.stringify(line)
  const isClean = isWithoutSecrets(text, redaction)
  if (isClean && isPlain(text)) return { text, blobs: NO_BLOBS }
  const { value, blobs } = toKeep(line, redaction, isClean)
  return { text: JSON.stringify(value), blobs }
}

/** Of the text of a line, in which nothing is escaped that need not be. */
function isWithoutSecrets(text: string, { extra = [] }: RedactOptions): boolean {
  // What a project calls a secret itself can look like anything.
  return extra.length === 0 && !mayHoldSecret(text)
}

// Behind a backslash anything can be hidden from a look at the text: a letter by its number, a slash of an address.
const HIDING = /\\[u/]/

/**
 * The line of a message in the words of its harness: making it anew costs as much as reading it. Undefined where there are none,
 * or where something in them is not to be kept as it is.
 */
export function keptAsWritten(item: NewItem, redaction: RedactOptions): KeptLine | undefined {
  const { source } = item
  if (item.type !== 'message' || source === undefined || HIDING.test(source)) return undefined
  const around = JSON.stringify(messageLine(item, {}))
  const text = `${around.slice(0, -3)}${source}}`
  return isWithoutSecrets(text, redaction) && isPlain(text) ? { text, blobs: NO_BLOBS } : undefined
}
