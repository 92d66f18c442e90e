import { StintError } from '../../journal/errors.ts'
import type { EntryDraft, EntryData } from '../../session/entries.ts'
import { cleanText } from '../../text/clean.ts'
import { type RedactOptions, redact, redactDeep } from '../../text/redact.ts'
import type { Config } from '../config/config.ts'
import { runWithTimeout } from '../conversation/run-with-timeout.ts'

const MAX_ENTRY_LENGTH = 1024 * 1024
// Far longer than any pattern that ends; hooks set shorter limits of their own.
const PATTERNS_MS = 10_000
const EXPORT_PATTERNS_MS = 60_000

interface Cleaned {
  readonly draft: EntryDraft
  readonly redacted: readonly string[]
}

/** Every journalled entry passes here: plain text, no secrets. */
export function cleanDraft(draft: EntryDraft, config: Config): Cleaned {
  const { value, found } = redactDeep(cleanStrings(fieldsByName(draft)), redaction(config))
  const data =
    draft.kind === 'field.set' ? { ...draft.data, value: Object.values(value)[0] } : value
  const cleaned = { ...draft, data } as EntryDraft
  if (JSON.stringify(cleaned.data).length > MAX_ENTRY_LENGTH) {
    throw new StintError(
      'ENTRY_TOO_LONG',
      'this entry is longer than 1 MB',
      'put the text into a file and log its path with --file',
    )
  }
  return { draft: cleaned, redacted: found }
}

export function withoutSecrets(text: string, config: Config): string {
  return redact(text, redaction(config)).text
}

/** Applies the current patterns: one may have been added since the entry was written. */
export function redactedForExport<T>(
  workspace: { config: Config; say(line: string): void },
  value: T,
): T {
  const { value: redacted, found } = redactDeep(
    value,
    redaction(workspace.config, EXPORT_PATTERNS_MS),
  )
  if (found.length > 0)
    workspace.say(`what looked like a secret was left out (${found.join(', ')})`)
  return redacted
}

export function redaction(
  { redact: { patterns, allow } }: Config,
  limitMs = PATTERNS_MS,
): RedactOptions {
  return { extra: [...patterns], allow: [...allow], limit: (work) => runWithTimeout(work, limitMs) }
}

// The key is the field's name: `password` marks its value as a secret.
function fieldsByName(draft: EntryDraft): Readonly<Record<string, unknown>> {
  if (draft.kind !== 'field.set') return draft.data as Record<string, unknown>
  const { key, value } = draft.data as EntryData['field.set']
  return { [key]: value }
}

function cleanStrings<T>(value: T): T {
  if (typeof value === 'string') return cleanKeepingEdges(value) as T
  if (Array.isArray(value)) return value.map(cleanStrings) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, cleanStrings(field)]),
  ) as T
}

// An empty first or last line separates a remark from its neighbours.
function cleanKeepingEdges(text: string): string {
  return `${text.startsWith('\n') ? '\n' : ''}${cleanText(text)}${text.endsWith('\n') && text.trim() !== '' ? '\n' : ''}`
}
