import { findPrivateKeys } from './private-keys.ts'
import { type FoundSecret, findAssignedSecrets, kindOfKey } from './secret-assignments.ts'
import { SECRET_PATTERNS, type SecretPattern } from './secret-patterns.ts'
import { givesSecret } from './secret-values.ts'

export interface RedactOptions {
  /** Further shapes that are secret in this project. */
  readonly extra?: readonly RegExp[]
  /** Texts that look secret and are not. */
  readonly allow?: readonly string[]
}

export interface Redacted {
  readonly text: string
  /** The kinds of secret that were taken out, each once. */
  readonly found: string[]
}

// Taking one secret out can lay bare the beginning of the next. Twice settles anything that is not made for the purpose.
const PASSES = 4
const MARKER = /(\[redacted:[a-z-]+\])/

/** The marks that stand in a text for secrets that were taken out of it. */
export function marksIn(text: string): readonly string[] {
  return text.split(MARKER).filter((_, at) => at % 2 === 1)
}

/** Replaces every secret by `[redacted:<kind>]` and keeps the rest as it is. Redacting twice changes nothing. */
export function redact(text: string, options: RedactOptions = {}): Redacted {
  const found = new Set<string>()
  let current = text
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = current
    current = redactOnce(current, options, found)
    if (current === before) break
  }
  return { text: current, found: [...found] }
}

/** The same for every string in a JSON value. Keys stay, and say what a string under them is. */
export function redactDeep<T>(value: T, options: RedactOptions = {}): { value: T; found: string[] } {
  const found = new Set<string>()
  return { value: walk(value, undefined, 0, options, found) as T, found: [...found] }
}

function redactOnce(text: string, options: RedactOptions, found: Set<string>): string {
  const allowed = new Set(options.allow)
  let current = text
  if (current.includes('PRIVATE KEY')) current = cut(current, findPrivateKeys(current), allowed, found)
  for (const pattern of SECRET_PATTERNS) {
    if (pattern.hints.some((hint) => current.includes(hint))) current = replacePattern(current, pattern, allowed, found)
  }
  current = cut(current, findAssignedSecrets(current), allowed, found)
  for (const extra of options.extra ?? []) current = replaceExtra(current, extra, allowed, found)
  return current
}

function replacePattern(
  text: string,
  { kind, pattern, isSpared }: SecretPattern,
  allowed: ReadonlySet<string>,
  found: Set<string>,
): string {
  return text.replace(pattern(), (match: string, first: unknown) => {
    // Without a group, the second argument is the position of the match.
    const kept = typeof first === 'string' ? first : ''
    const secret = match.slice(kept.length)
    if (allowed.has(secret) || isSpared?.(secret) === true) return match
    found.add(kind)
    return kept + marker(kind)
  })
}

function cut(text: string, secrets: Iterable<FoundSecret>, allowed: ReadonlySet<string>, found: Set<string>): string {
  const parts: string[] = []
  let from = 0
  for (const { kind, start, end } of secrets) {
    if (allowed.has(text.slice(start, end))) continue
    parts.push(text.slice(from, start), marker(kind))
    found.add(kind)
    from = end
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}

// A pattern of the user's may match our own mark, which would then grow with each pass.
function replaceExtra(text: string, extra: RegExp, allowed: ReadonlySet<string>, found: Set<string>): string {
  const pattern = new RegExp(extra.source, extra.flags.includes('g') ? extra.flags : `${extra.flags}g`)
  const parts = text.split(MARKER).map((part, i) => {
    if (i % 2 === 1) return part
    return part.replace(pattern, (match) => {
      if (match === '' || allowed.has(match)) return match
      found.add('custom')
      return marker('custom')
    })
  })
  return parts.join('')
}

// Deeper than any record of ours, and well before the stack ends.
const MAX_DEPTH = 500

function walk(value: unknown, key: string | undefined, depth: number, options: RedactOptions, found: Set<string>): unknown {
  if (typeof value === 'string') return redactField(value, key, options, found)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '[left out: nested too deep]'
  if (Array.isArray(value)) return value.map((item) => walk(item, key, depth + 1, options, found))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name, depth + 1, options, found)]))
}

function redactField(value: string, key: string | undefined, options: RedactOptions, found: Set<string>): string {
  const kind = key === undefined ? undefined : kindOfKey(key)
  if (kind !== undefined && options.allow?.includes(value) !== true) {
    if (givesSecret({ key: key ?? '', value, isQuoted: true, isTight: false })) {
      found.add(kind)
      return marker(kind)
    }
  }
  const redacted = redact(value, options)
  for (const kind of redacted.found) found.add(kind)
  return redacted.text
}

function marker(kind: string): string {
  return `[redacted:${kind}]`
}
