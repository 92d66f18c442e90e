import { mayHoldSecret } from '../text/may-hold-secret.ts'
import type { Json } from '../text/json-fields.ts'
import type { RedactOptions } from '../text/redact.ts'
import { isPlain, toKeep } from './large-strings.ts'

export interface KeptLine {
  readonly text: string
  /** What it names, which has to be written first. */
  readonly blobs: ReadonlyMap<string, string>
}

const NONE: ReadonlyMap<string, string> = new Map()

/** A line as it is written. Most hold no secret, and are told from those that may by a look at their text. */
export function keptLine(line: Json, redaction: RedactOptions): KeptLine {
  // What a project calls a secret itself can look like anything.
  const hasOwn = (redaction.extra ?? []).length > 0
  const text = JSON.stringify(line)
  const isClean = !hasOwn && !mayHoldSecret(text)
  if (isClean && isPlain(text)) return { text, blobs: NONE }
  const { value, blobs } = toKeep(line, redaction, isClean)
  return { text: JSON.stringify(value), blobs }
}
