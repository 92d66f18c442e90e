import { slug } from './clean.ts'
import { findPlacedSecrets } from './command-secrets.ts'
import {
  type FoundSecret,
  SECRET_PATTERNS,
  encodedTexts,
  findAssignedSecrets,
  findAwsSecrets,
  findBareKeys,
  findKeyTails,
  findPrivateKeys,
  isSecretValue,
  secretKindOfKey,
} from './secrets.ts'

export interface RedactOptions {
  readonly extra?: readonly RegExp[]
  readonly allow?: readonly string[]
  /** Runs work that applies `extra`; throws where that takes too long. */
  readonly limit?: <T>(work: () => T) => T
}

export interface Redacted {
  readonly text: string
  readonly found: string[]
}

// Removing one secret can expose the beginning of the next.
const PASSES = 4
const MARKER = /(\[redacted:[a-z-]+\])/

export function redactionsIn(text: string): readonly string[] {
  return text.split(MARKER).filter((_, at) => at % 2 === 1)
}

/** Idempotent. */
export function redact(text: string, options: RedactOptions = {}): Redacted {
  const { found, redactText } = redaction(options)
  return { text: withLimit(options, () => redactText(text)), found: [...found] }
}

/** A name for files and branches. Redacted first: in a name, a secret has lost the shape by which it is found. */
export function nameFrom(text: string, max?: number): string {
  return slug(redact(text).text, max)
}

/** A key tells what kind of value it holds; the keys themselves lose only what looks secret. */
export function redactDeep<T>(
  value: T,
  options: RedactOptions = {},
): { value: T; found: string[] } {
  const { allowed, extra, found, marked, redactText, withoutExtra, withoutShapes } =
    redaction(options)
  return {
    value: withLimit(options, () => walk(value, undefined, 0)) as T,
    found: [...found],
  }

  function walk(value: unknown, key: string | undefined, depth: number): unknown {
    if (typeof value === 'string') return redactField(value, key)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return '[left out: nested too deep]'
    if (Array.isArray(value))
      return value.map((item, i) => walk(item, optionBefore(value, i) ?? key, depth + 1))
    const entries = Object.entries(value)
    const names = redactNames(entries.map(([name]) => name))
    return Object.fromEntries(
      entries.map(([name, item], i) => [names[i]!, walk(item, name, depth + 1)]),
    )
  }

  function redactField(value: string, key: string | undefined) {
    const kind = key === undefined ? undefined : secretKindOfKey(key)
    if (key === undefined || kind === undefined || allowed.has(value)) return redactText(value)
    return isSecretValue({ key, value, isQuoted: true, isTight: false })
      ? marked(kind)
      : redactText(value)
  }

  /** Names that become equal are numbered, so that no value is lost. */
  function redactNames(names: readonly string[]): readonly string[] {
    const redacted = names.map((name) => redactName(name))
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

  /** Without the assignment patterns: `token=` would remove words from a name. */
  function redactName(name: string) {
    const own = FIELD_NAME.test(name) ? [] : extra
    if (own.length === 0 && SHORT_NAME.test(name)) return name
    return untilStable(name, (text) => withoutExtra(withoutShapes(text), own))
  }
}

/** The user's own patterns may try every way to divide a text. */
function withLimit<T>({ extra = [], limit }: RedactOptions, work: () => T): T {
  return extra.length === 0 || limit === undefined ? work() : limit(work)
}

// Deeper than any record of ours, and well before the stack ends.
const MAX_DEPTH = 500
// Too short for any shape, as most names are.
const SHORT_NAME = /^[\w-]{0,14}$/
// A broad user pattern must not break a record's structure.
const FIELD_NAME = /^[A-Za-z_$-]*$/

// Not a class, and separate from `redactDeep`, so that the bundle of a hook that needs only `redact` holds nothing else.
function redaction({ allow, extra = [] }: RedactOptions) {
  const found = new Set<string>()
  const allowed: ReadonlySet<string> = new Set(allow)

  function redactText(text: string): string {
    return untilStable(text, (current) => {
      const builtIn = withoutEncoded(withoutPlain(current))
      return withoutExtra(builtIn, extra)
    })
  }

  function withoutPlain(text: string) {
    return [findPlacedSecrets, findAssignedSecrets].reduce(
      (current, find) => withoutFound(current, find(current)),
      withoutShapes(text),
    )
  }

  /** Text in base64 that holds a secret, once decoded. */
  function withoutEncoded(text: string) {
    const secrets = [...encodedTexts(text)].filter(
      ({ decoded }) => withoutPlain(decoded) !== decoded,
    )
    return secrets.length === 0 ? text : withoutFound(text, secrets)
  }

  function withoutShapes(text: string) {
    let current = text
    if (current.includes('PRIVATE KEY')) {
      current = withoutFound(current, findPrivateKeys(current))
      current = withoutFound(current, findKeyTails(current))
    }
    current = withoutFound(current, findBareKeys(current))
    if (/(?:AKIA|ASIA|aws-key-id\])/.test(current))
      current = withoutFound(current, findAwsSecrets(current))
    for (const { hints, kind, pattern, isSpared } of SECRET_PATTERNS) {
      if (!hints.some((hint) => current.includes(hint))) continue
      current = current.replace(pattern(), (match: string, first: unknown) => {
        // Without a group, the second argument is the position of the match.
        const kept = typeof first === 'string' ? first : ''
        const secret = match.slice(kept.length)
        if (allowed.has(secret) || isSpared?.(secret) === true) return match
        return kept + marked(kind)
      })
    }
    return current
  }

  function withoutFound(text: string, secrets: Iterable<FoundSecret>) {
    const parts: string[] = []
    let from = 0
    for (const { kind, start, end } of secrets) {
      if (allowed.has(text.slice(start, end))) continue
      parts.push(text.slice(from, start), marked(kind))
      from = end
    }
    return from === 0 ? text : parts.join('') + text.slice(from)
  }

  /** A user's pattern may match our own marker, which would then grow with each pass. */
  function withoutExtra(text: string, extras: readonly RegExp[]) {
    return extras.reduce((current, { source, flags }) => {
      const pattern = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
      const parts = current.split(MARKER).map((part, i) => {
        if (i % 2 === 1) return part
        return part.replace(pattern, (match) =>
          match === '' || allowed.has(match) ? match : marked('custom'),
        )
      })
      return parts.join('')
    }, text)
  }

  function marked(kind: string) {
    found.add(kind)
    return `[redacted:${kind}]`
  }

  return { allowed, extra, found, marked, redactText, withoutExtra, withoutShapes }
}

function untilStable(text: string, redactOnce: (text: string) => string) {
  let current = text
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = current
    current = redactOnce(before)
    if (current === before) break
  }
  return current
}

// `-p` names no secret.
const OPTION = /^--?[\w-]{1,60}$/

function optionBefore(list: readonly unknown[], index: number) {
  const [option, value] = [list[index - 1], list[index]]
  if (typeof option !== 'string' || typeof value !== 'string') return undefined
  if (value.startsWith('--') || !OPTION.test(option)) return undefined
  return secretKindOfKey(option) === undefined ? undefined : option
}
