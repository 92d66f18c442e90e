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
export function isCompact(bytes: Buffer, at = 0): boolean {
  if (bytes[at + 1] !== QUOTE) return false
  let end = at + 2
  for (const last = end + LONGEST_NAME; bytes[end] !== QUOTE; end += 1)
    if (end >= last) return false
  return bytes[end + 1] === COLON && (bytes[end + 2] ?? BLANK) > BLANK
}
