import { StintError } from '../journal/errors.ts'
import type { Draft } from '../session/entries.ts'
import { cleanText } from '../text/clean.ts'
import { redact } from '../text/redact.ts'
import type { Config } from './config.ts'

const LONGEST_ENTRY = 1024 * 1024

export interface Cleaned {
  readonly draft: Draft
  /** The kinds of secret that were taken out. */
  readonly redacted: readonly string[]
}

/** Brings an entry into the form that is journalled: plain text, without secrets. Nothing reaches the disk that did not pass here. */
export function cleanDraft(draft: Draft, config: Config): Cleaned {
  const redacted: string[] = []
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const result = redact(cleanKeepingEdges(value), { extra: [...config.redact.patterns], allow: [...config.redact.allow] })
      redacted.push(...result.found)
      return result.text
    }
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, clean(field)]))
    }
    return value
  }
  const cleaned = { ...draft, data: clean(draft.data) } as Draft
  if (JSON.stringify(cleaned.data).length > LONGEST_ENTRY) {
    throw new StintError(
      'ENTRY_TOO_LONG',
      'this entry is longer than 1 MB',
      'put the text into a file and log its path with --file',
    )
  }
  return { draft: cleaned, redacted: [...new Set(redacted)] }
}

// A remark remembers by an empty first or last line that it stood apart from its neighbours.
function cleanKeepingEdges(text: string): string {
  return `${text.startsWith('\n') ? '\n' : ''}${cleanText(text)}${text.endsWith('\n') && text.trim() !== '' ? '\n' : ''}`
}
