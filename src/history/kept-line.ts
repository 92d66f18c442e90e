import { mayHoldSecret } from '../text/may-hold-secret.ts'
import type { Json } from '../text/json-fields.ts'
import type { RedactOptions } from '../text/redact.ts'
import { isPlain, toKeep } from './large-strings.ts'
import type { NewItem } from './items.ts'
import { messageLine } from './line-of-item.ts'

export interface KeptLine {
  readonly text: string
  /** Has to be written before the line. */
  readonly blobs: ReadonlyMap<string, string>
}

const NO_BLOBS: ReadonlyMap<string, string> = new Map()

/** Most lines hold no secret, which a cheap test shows. */
export function keptLine(line: Json, redaction: RedactOptions): KeptLine {
  const text = JSON.stringify(line)
  const isClean = isWithoutSecrets(text, redaction)
  if (isClean && isPlain(text)) return { text, blobs: NO_BLOBS }
  const { value, blobs } = toKeep(line, redaction, isClean)
  return { text: JSON.stringify(value), blobs }
}

function isWithoutSecrets(text: string, { extra = [] }: RedactOptions) {
  // A project's own patterns can match anything.
  return extra.length === 0 && !mayHoldSecret(text)
}

// An escape can hide a letter or the slash of a URL.
const HIDING = /\\[u/]/

/** Keeps the harness's own JSON: making it again costs as much as reading. Undefined where something in it must change. */
export function keptAsWritten(item: NewItem, redaction: RedactOptions): KeptLine | undefined {
  const { source } = item
  if (item.type !== 'message' || source === undefined || HIDING.test(source)) return undefined
  const around = JSON.stringify(messageLine(item, {}))
  const text = `${around.slice(0, -3)}${source}}`
  return isWithoutSecrets(text, redaction) && isPlain(text) ? { text, blobs: NO_BLOBS } : undefined
}
