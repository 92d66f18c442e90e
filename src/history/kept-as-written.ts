import type { RedactOptions } from '../text/redact.ts'
import type { NewItem } from './items.ts'
import { type KeptLine, NO_BLOBS, isWithoutSecrets } from './kept-line.ts'
import { isPlain } from './large-strings.ts'
import { messageLine } from './line-of-item.ts'

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
