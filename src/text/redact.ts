import {
  type FoundSecret,
  SECRET_PATTERNS,
  type SecretPattern,
  findAssignedSecrets,
  findPrivateKeys,
  givesSecret,
  kindOfKey,
} from './secrets.ts'

export interface RedactOptions {
  readonly extra?: readonly RegExp[]
  readonly allow?: readonly string[]
}

export interface Redacted {
  readonly text: string
  readonly found: string[]
}

// Removing one secret can expose the beginning of the next.
const PASSES = 4
const MARKER = /(\[redacted:[a-z-]+\])/

export function marksIn(text: string): readonly string[] {
  return text.split(MARKER).filter((_, at) => at % 2 === 1)
}

/** Idempotent. */
export function redact(text: string, options: RedactOptions = {}): Redacted {
  const found = new Set<string>()
  const left = settled(text, (current) => redactOnce(current, options, found))
  return { text: left, found: [...found] }
}

/** A key says what a string under it is; keys lose only what is secret by its shape. */
export function redactDeep<T>(
  value: T,
  options: RedactOptions = {},
): { value: T; found: string[] } {
  const found = new Set<string>()
  return { value: walk(value, undefined, 0, options, found) as T, found: [...found] }
}

function settled(text: string, once: (text: string) => string): string {
  let current = text
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = current
    current = once(before)
    if (current === before) break
  }
  return current
}

function redactOnce(text: string, options: RedactOptions, found: Set<string>): string {
  const allowed = new Set(options.allow)
  const current = redactShapes(text, allowed, found)
  return redactExtra(
    cut(current, findAssignedSecrets(current), allowed, found),
    options.extra ?? [],
    allowed,
    found,
  )
}

function redactShapes(text: string, allowed: ReadonlySet<string>, found: Set<string>): string {
  let current = text
  if (current.includes('PRIVATE KEY'))
    current = cut(current, findPrivateKeys(current), allowed, found)
  for (const pattern of SECRET_PATTERNS) {
    if (pattern.hints.some((hint) => current.includes(hint)))
      current = replacePattern(current, pattern, allowed, found)
  }
  return current
}

function redactExtra(
  text: string,
  extras: readonly RegExp[],
  allowed: ReadonlySet<string>,
  found: Set<string>,
): string {
  return extras.reduce((current, extra) => replaceExtra(current, extra, allowed, found), text)
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

function cut(
  text: string,
  secrets: Iterable<FoundSecret>,
  allowed: ReadonlySet<string>,
  found: Set<string>,
): string {
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

// A user's pattern may match our own mark, which would then grow with each pass.
function replaceExtra(
  text: string,
  extra: RegExp,
  allowed: ReadonlySet<string>,
  found: Set<string>,
): string {
  const pattern = new RegExp(
    extra.source,
    extra.flags.includes('g') ? extra.flags : `${extra.flags}g`,
  )
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

function walk(
  value: unknown,
  key: string | undefined,
  depth: number,
  options: RedactOptions,
  found: Set<string>,
): unknown {
  if (typeof value === 'string') return redactField(value, key, options, found)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '[left out: nested too deep]'
  if (Array.isArray(value))
    return value.map((item, i) =>
      walk(item, optionBefore(value, i) ?? key, depth + 1, options, found),
    )
  const entries = Object.entries(value)
  const names = redactNames(
    entries.map(([name]) => name),
    options,
    found,
  )
  return Object.fromEntries(
    entries.map(([name, item], i) => [names[i]!, walk(item, name, depth + 1, options, found)]),
  )
}

// `-p` names no secret.
const OPTION = /^--?[\w-]{1,60}$/

function optionBefore(list: readonly unknown[], index: number): string | undefined {
  const [option, value] = [list[index - 1], list[index]]
  if (
    typeof option !== 'string' ||
    typeof value !== 'string' ||
    value.startsWith('--') ||
    !OPTION.test(option)
  )
    return undefined
  return kindOfKey(option) === undefined ? undefined : option
}

// Too short for any shape, as most names are.
const SHORT_NAME = /^[\w-]{0,14}$/
// A broad pattern of the user's must not take a record apart.
const FIELD_NAME = /^[A-Za-z_$-]*$/

/** Names that become equal are numbered, so that no value is lost. */
function redactNames(
  names: readonly string[],
  options: RedactOptions,
  found: Set<string>,
): readonly string[] {
  const redacted = names.map((name) => redactName(name, options, found))
  if (redacted.every((name, i) => name === names[i])) return names
  const taken = new Set(redacted.filter((name, i) => name === names[i]))
  const numbers = new Map<string, number>()
  return redacted.map((name, i) => {
    if (name === names[i]) return name
    let free = name
    let number = numbers.get(name) ?? 1
    while (taken.has(free)) free = `${name}-${(number += 1)}`
    numbers.set(name, number)
    taken.add(free)
    return free
  })
}

/** Not by assignments: `token=` would take words out of a name. */
function redactName(name: string, options: RedactOptions, found: Set<string>): string {
  const extra = FIELD_NAME.test(name) ? [] : (options.extra ?? [])
  if (extra.length === 0 && SHORT_NAME.test(name)) return name
  const allowed = new Set(options.allow)
  return settled(name, (text) =>
    redactExtra(redactShapes(text, allowed, found), extra, allowed, found),
  )
}

function redactField(
  value: string,
  key: string | undefined,
  options: RedactOptions,
  found: Set<string>,
): string {
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
