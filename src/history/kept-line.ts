import { mayHoldSecret } from '../text/may-hold-secret.ts'
import type { Json } from '../text/json-fields.ts'
import type { RedactOptions } from '../text/redact.ts'
import { isPlain, toKeep } from './large-strings.ts'

export interface KeptLine {
  readonly text: string
  /** What it names, which has to be written first. */
  readonly blobs: ReadonlyMap<string, string>
}

export const NO_BLOBS: ReadonlyMap<string, string> = new Map()

/** A line as it is written. Most hold no secret, and are told from those that may by a look at their text. */
export function keptLine(line: Json, redaction: RedactOptions): KeptLine {
  const text = JSON.stringify(line)
  const isClean = isWithoutSecrets(text, redaction)
  if (isClean && isPlain(text)) return { text, blobs: NO_BLOBS }
  const { value, blobs } = toKeep(line, redaction, isClean)
  return { text: JSON.stringify(value), blobs }
}

/** Of the text of a line, in which nothing is escaped that need not be. */
export function isWithoutSecrets(text: string, { extra = [] }: RedactOptions): boolean {
  // What a project calls a secret itself can look like anything.
  return extra.length === 0 && !mayHoldSecret(text)
}
