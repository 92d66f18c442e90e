// For JSON of other programs, where any field may be missing or of another type.

export type Json = Readonly<Record<string, unknown>>

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Cut off, or nested deeper than the stack.
    return undefined
  }
}

const SPACE = Buffer.from('": "')
const COMPACT = /^\{"[^"\\]*":\S/

export function mayBeSpacedJson(line: Buffer): boolean {
  return line.includes(SPACE) || !COMPACT.test(line.toString('latin1', 0, 200))
}

export function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

export function asName(value: unknown, longest = 200): string | undefined {
  const text = asText(value)
  return text !== undefined && text.length <= longest ? text : undefined
}

export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

export function messageText(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .flatMap((block) => {
      if (typeof block === 'string') return [block]
      const fields = asObject(block)
      return fields?.type === 'text' && typeof fields.text === 'string' ? [fields.text] : []
    })
    .join('\n')
}

const QUOTE = 0x22
const COLON = 0x3a
const BLANK = 0x20
/** No first field has a longer name. */
const LONGEST_NAME = 64

/** Decided by the first field: a program that writes it without white space writes everything so. */
export function isCompactLine(text: string, at: number): boolean {
  if (text[at + 1] !== '"') return false
  const end = text.indexOf('"', at + 2)
  return (
    end !== -1 &&
    end <= at + 2 + LONGEST_NAME &&
    text[end + 1] === ':' &&
    (text.charCodeAt(end + 2) || BLANK) > BLANK
  )
}

/** The same for the bytes of a line. */
export function isCompact(bytes: Buffer): boolean {
  if (bytes[1] !== QUOTE) return false
  let end = 2
  for (; bytes[end] !== QUOTE; end += 1) if (end >= 2 + LONGEST_NAME) return false
  return bytes[end + 1] === COLON && (bytes[end + 2] ?? BLANK) > BLANK
}
