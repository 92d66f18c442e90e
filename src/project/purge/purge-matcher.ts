import { StintError } from '../../journal/errors.ts'
import { isId } from '../../journal/ids.ts'
import { asObject, parseJson } from '../../text/json-fields.ts'
import { cleanText, slug } from '../../text/clean.ts'

const MIN_LENGTH = 4
const POINTER =
  /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|refs\/stint\/(?:runs\/)?[0-9a-f/-]+(?:found|discarded|merge|proved|lost)?[0-9-]*)$/
/** A longer part of the text at the end of a torn line gives it away. */
const MIN_TORN_LENGTH = 6

export function purgeTextProblem(text: string): string | undefined {
  if (text.trim() === '') return 'there is no text to purge'
  // A shorter text is part of too many words.
  if (text.trim().length < MIN_LENGTH)
    return `a text to purge has at least ${MIN_LENGTH} characters`
  return undefined
}

interface Scrubbed<T> {
  readonly value: T
  readonly count: number
}

export class PurgeMatcher {
  readonly lines: readonly string[]
  readonly #inStrings: RegExp
  readonly #inBytes: RegExp
  readonly #inNames: RegExp
  readonly #placeholder: string
  readonly #word: string
  /** A text of letters only must not be taken for a field's name. */
  readonly #mayBeField: boolean

  constructor(text: string) {
    const problem = purgeTextProblem(text)
    if (problem !== undefined) throw new StintError('NOT_PURGEABLE', problem)
    const wanted = [...new Set([text.trim(), cleanText(text).trim()])].filter(
      (form) => form.length >= MIN_LENGTH,
    )
    this.lines = linesOf(cleanText(text))
    this.#word = ['purged', 'removed', 'x'].find((word) =>
      wanted.every((form) => !`[${word}]`.includes(form)),
    )!
    this.#placeholder = `[${this.#word}]`
    this.#mayBeField = wanted.some((form) => /^[A-Za-z]+$/.test(form))
    this.#inStrings = anyOf(wanted.flatMap((form) => patternsOf(form)))
    this.#inBytes = anyOf(
      wanted.flatMap((form) => patternsOf(form, (part) => Buffer.from(part).toString('latin1'))),
    )
    // Sessions are named after their goal, tasks after their title.
    const named = slug(text)
    const names = named.length >= MIN_LENGTH && named !== slug('') ? [escapePattern(named)] : []
    this.#inNames = anyOf([...wanted.flatMap((form) => patternsOf(form)), ...names])
  }

  isIn(bytes: Buffer): boolean {
    this.#inBytes.lastIndex = 0
    return this.#inBytes.test(bytes.toString('latin1'))
  }

  count(bytes: Buffer): number {
    return bytes.toString('latin1').match(this.#inBytes)?.length ?? 0
  }

  /** In YAML the brackets of the placeholder would make a list. */
  scrubBytes(bytes: Buffer, { isYaml = false }: { isYaml?: boolean } = {}): Scrubbed<Buffer> {
    const { value, count } = replaceAll(
      bytes.toString('latin1'),
      this.#inBytes,
      isYaml ? this.#word : this.#placeholder,
    )
    return { value: count === 0 ? bytes : Buffer.from(value, 'latin1'), count }
  }

  scrubDamage(bytes: Buffer): Scrubbed<Buffer> {
    const { value, count } = this.scrubBytes(bytes)
    const line = value.toString('latin1')
    const first = Buffer.from(this.lines[0] ?? '').toString('latin1')
    for (let length = first.length - 1; length >= MIN_TORN_LENGTH; length -= 1) {
      if (!line.endsWith(first.slice(0, length))) continue
      return {
        value: Buffer.from(line.slice(0, -length) + this.#placeholder, 'latin1'),
        count: count + 1,
      }
    }
    return { value, count }
  }

  scrubData(data: Readonly<Record<string, unknown>>): Scrubbed<Record<string, unknown>> {
    let count = 0
    const scrub = (value: unknown, field: string): unknown => {
      if (typeof value === 'string') {
        const result = this.#scrubText(value, field)
        count += result.count
        return result.value
      }
      if (Array.isArray(value)) return value.map((item) => scrub(item, field))
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => {
          const name = this.#mayBeField
            ? { value: key, count: 0 }
            : replaceAll(key, this.#inStrings, this.#placeholder)
          count += name.count
          return [name.value, scrub(item, key)]
        }),
      )
    }
    return { value: scrub(data, '') as Record<string, unknown>, count }
  }

  scrubJson(bytes: Buffer): Scrubbed<Buffer> {
    const data = asObject(parseJson(bytes.toString('utf8')))
    const { value, count } = data === undefined ? { value: {}, count: 0 } : this.scrubData(data)
    return {
      value: count === 0 ? bytes : Buffer.from(`${JSON.stringify(value, null, 1)}\n`),
      count,
    }
  }

  scrubName(name: string): Scrubbed<string> {
    return replaceAll(name, this.#inNames, this.#word)
  }

  #scrubText(text: string, field: string): Scrubbed<string> {
    if (field === 'name' || field === 'shortname') return this.scrubName(text)
    const result = replaceAll(text, this.#inStrings, this.#placeholder)
    // An id or commit that contains the text by chance stays.
    const isPointer = isId(text) || POINTER.test(text)
    return isPointer && result.value !== this.#placeholder ? { value: text, count: 0 } : result
  }
}

type Encode = (line: string) => string

/** A tool's JSON output may hold JSON, and is itself in a line of JSON. */
const MAX_DEPTH = 3

/** As written by encoders that escape non-ASCII, slashes, or neither. */
function formsOf(line: string): readonly (readonly string[])[] {
  const encoders: readonly Encode[] = [
    jsonText,
    asciiJsonText,
    (text) => asciiJsonText(text).replaceAll('/', String.raw`\/`),
  ]
  const forms: (readonly string[])[] = [[line]]
  for (let depth = 1; depth <= MAX_DEPTH; depth += 1)
    forms.push(forms[depth - 1]!.flatMap((form) => encoders.map((write) => write(form))))
  return forms
}

/** Between lines there may be any indent, or a space where they were joined. */
function patternsOf(
  text: string,
  encode: (part: string) => string = (part) => part,
): readonly string[] {
  const lines = linesOf(text).map(formsOf)
  const [first = []] = lines
  return first.flatMap((forms, depth) => {
    const between = betweenLines(depth)
    return forms.map((_, i) =>
      lines.map((line) => inAnyHex(escapePattern(encode(line[depth]![i]!)))).join(between),
    )
  })
}

/**
 * Each level of JSON doubles the backslashes of a line end, and of one that Markdown puts at a
 * line's start.
 */
function betweenLines(depth: number): string {
  if (depth === 0) return String.raw`[ \t\r\n]+\\?`
  return String.raw`(?: |\\{${2 ** (depth - 1)}}[nrt])+(?:\\{${2 ** depth}})?`
}

/** Some encoders write hex digits in capitals. */
function inAnyHex(pattern: string): string {
  return pattern.replaceAll(/(?<=\\\\u)[0-9a-f]{4}/g, (digits) =>
    digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`),
  )
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function asciiJsonText(text: string): string {
  const ascii = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return jsonText(text).replaceAll(/[^ -~]/g, ascii)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}

/** Longer forms first, or the plain form would match inside an escaped one. */
function anyOf(patterns: readonly string[]): RegExp {
  const unique = [...new Set(patterns)].toSorted((a, b) => b.length - a.length)
  return new RegExp(unique.join('|'), 'g')
}

function replaceAll(text: string, pattern: RegExp, by: string): Scrubbed<string> {
  let count = 0
  const value = text.replaceAll(pattern, () => {
    count += 1
    return by
  })
  return { value, count }
}
