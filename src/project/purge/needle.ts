import { StintError } from '../../journal/errors.ts'
import { isId } from '../../journal/ids.ts'
import { isRecord } from '../../backlog/task.ts'
import { cleanText, slug } from '../../text/clean.ts'

const SHORTEST = 4
const POINTER =
  /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|refs\/stint\/(?:runs\/)?[0-9a-f/-]+(?:found|discarded|merge|proved|lost)?[0-9-]*)$/
/** A piece of the text this long at the end of a torn line gives away too much. */
const TELLING_PIECE = 6

/** Why a text cannot be purged, or undefined when it can. */
export function whyNotPurged(text: string): string | undefined {
  if (text.trim() === '') return 'there is no text to purge'
  // A shorter one stands in half of all words, and the journals would be full of holes.
  if (text.trim().length < SHORTEST) return `a text to purge has at least ${SHORTEST} characters`
  return undefined
}

/** What was found and what stands there now. */
export interface Scrubbed<T> {
  readonly value: T
  readonly count: number
}

/** The text to be purged, in every form that our files give it. */
export class Needle {
  /** The lines of the text, for programs that search line by line. */
  readonly lines: readonly string[]
  readonly #inStrings: RegExp
  readonly #inBytes: RegExp
  readonly #inNames: RegExp
  readonly #mark: string
  readonly #word: string
  /** Fields of the format have names of letters only; a text like that must not be taken for one. */
  readonly #mayBeField: boolean

  constructor(text: string) {
    const problem = whyNotPurged(text)
    if (problem !== undefined) throw new StintError('NOT_PURGEABLE', problem)
    const wanted = [...new Set([text.trim(), cleanText(text).trim()])].filter(
      (form) => form.length >= SHORTEST,
    )
    this.lines = linesOf(cleanText(text))
    this.#word = ['purged', 'removed', 'x'].find((word) =>
      wanted.every((form) => !`[${word}]`.includes(form)),
    )!
    this.#mark = `[${this.#word}]`
    this.#mayBeField = wanted.some((form) => /^[A-Za-z]+$/.test(form))
    this.#inStrings = anyOf(wanted.flatMap((form) => patternsOf(form)))
    this.#inBytes = anyOf(
      wanted.flatMap((form) => patternsOf(form, (part) => Buffer.from(part).toString('latin1'))),
    )
    // A session without a name of its own was named after its goal, and a task after its title.
    const named = slug(text)
    const names = named.length >= SHORTEST && named !== slug('') ? [escaped(named)] : []
    this.#inNames = anyOf([...wanted.flatMap((form) => patternsOf(form)), ...names])
  }

  /** Whether any of its forms is in a file's bytes. */
  isIn(bytes: Buffer): boolean {
    this.#inBytes.lastIndex = 0
    return this.#inBytes.test(bytes.toString('latin1'))
  }

  count(bytes: Buffer): number {
    return bytes.toString('latin1').match(this.#inBytes)?.length ?? 0
  }

  /** A file's bytes without it. `isYaml` because there the brackets of the mark would make a list of a text. */
  scrubBytes(bytes: Buffer, { isYaml = false }: { isYaml?: boolean } = {}): Scrubbed<Buffer> {
    const { value, count } = replaced(
      bytes.toString('latin1'),
      this.#inBytes,
      isYaml ? this.#word : this.#mark,
    )
    return { value: count === 0 ? bytes : Buffer.from(value, 'latin1'), count }
  }

  /** A damaged line without it, and without a piece of it that a tear left at the end. */
  scrubDamage(bytes: Buffer): Scrubbed<Buffer> {
    const { value, count } = this.scrubBytes(bytes)
    const line = value.toString('latin1')
    const first = Buffer.from(this.lines[0] ?? '').toString('latin1')
    for (let length = first.length - 1; length >= TELLING_PIECE; length -= 1) {
      if (!line.endsWith(first.slice(0, length))) continue
      return { value: Buffer.from(line.slice(0, -length) + this.#mark, 'latin1'), count: count + 1 }
    }
    return { value, count }
  }

  /** An entry's data without it, in texts and in names of fields. */
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
            : replaced(key, this.#inStrings, this.#mark)
          count += name.count
          return [name.value, scrub(item, key)]
        }),
      )
    }
    return { value: scrub(data, '') as Record<string, unknown>, count }
  }

  /** A file of one JSON object without it, in texts, names and names of fields. Left as it is when it is none. */
  scrubJson(bytes: Buffer): Scrubbed<Buffer> {
    const data = objectIn(bytes)
    const { value, count } = data === undefined ? { value: {}, count: 0 } : this.scrubData(data)
    return {
      value: count === 0 ? bytes : Buffer.from(`${JSON.stringify(value, null, 1)}\n`),
      count,
    }
  }

  /** A short name, or the name of a file, without it. */
  scrubName(name: string): Scrubbed<string> {
    return replaced(name, this.#inNames, this.#word)
  }

  #scrubText(text: string, field: string): Scrubbed<string> {
    if (field === 'name' || field === 'shortname') return this.scrubName(text)
    const result = replaced(text, this.#inStrings, this.#mark)
    // An id, a commit or the mark of a process that has the text in it by chance leads somewhere, and gives nothing away.
    const isPointer = isId(text) || POINTER.test(text)
    return isPointer && result.value !== this.#mark ? { value: text, count: 0 } : result
  }
}

type Writing = (line: string) => string

/** How deep JSON is looked for in JSON: that of a tool's output may hold another, and stands in a line of JSON itself. */
const DEEPEST = 3

/** A line as it is, and in JSON inside JSON, each as written by those who write ASCII only, or a backslash before a slash, or neither. */
function formsOf(line: string): readonly (readonly string[])[] {
  const writings: readonly Writing[] = [
    inJson,
    inAsciiJson,
    (text) => inAsciiJson(text).replaceAll('/', String.raw`\/`),
  ]
  const forms: (readonly string[])[] = [[line]]
  for (let depth = 1; depth <= DEEPEST; depth += 1)
    forms.push(forms[depth - 1]!.flatMap((form) => writings.map((write) => write(form))))
  return forms
}

/** The text in all forms. Between its lines there may be any indent, or only a space where lines were joined. */
function patternsOf(
  text: string,
  encode: (part: string) => string = (part) => part,
): readonly string[] {
  const lines = linesOf(text).map(formsOf)
  const [first = []] = lines
  return first.flatMap((forms, depth) => {
    const between = betweenLines(depth)
    return forms.map((_, i) =>
      lines.map((line) => inAnyHex(escaped(encode(line[depth]![i]!)))).join(between),
    )
  })
}

/** A line end has a backslash in JSON, and twice as many in each JSON around that. So has the one that Markdown may begin a line with. */
function betweenLines(depth: number): string {
  if (depth === 0) return String.raw`[ \t\r\n]+\\?`
  return String.raw`(?: |\\{${2 ** (depth - 1)}}[nrt])+(?:\\{${2 ** depth}})?`
}

/** Some write the number of a character in capitals. */
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

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    // Not JSON: the bytes are gone through instead.
    return undefined
  }
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function inAsciiJson(text: string): string {
  const ascii = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return inJson(text).replaceAll(/[^ -~]/g, ascii)
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}

/** Longer forms first, so that an escaped one is not taken for the plain one inside it. */
function anyOf(patterns: readonly string[]): RegExp {
  const unique = [...new Set(patterns)].toSorted((a, b) => b.length - a.length)
  return new RegExp(unique.join('|'), 'g')
}

function replaced(text: string, pattern: RegExp, by: string): Scrubbed<string> {
  let count = 0
  const value = text.replaceAll(pattern, () => {
    count += 1
    return by
  })
  return { value, count }
}
