// JSON that another program wrote. Any field may be missing, of another type, or of any length, and which ones
// there are changes from version to version, so nothing is read without looking.

export type Json = Readonly<Record<string, unknown>>

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Cut off, or nested deeper than the stack: not to be read, and nobody's fault here.
    return undefined
  }
}

const SPACE = Buffer.from('": "')
const COMPACT = /^\{"[^"\\]*":\S/

/** Whether there may be white space between the parts of a line of JSON, so that no bytes of it tell what it is. */
export function maySpace(line: Buffer): boolean {
  return line.includes(SPACE) || !COMPACT.test(line.toString('latin1', 0, 200))
}

export function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A name, an id: too long to be one is none. */
export function nameOf(value: unknown, longest = 200): string | undefined {
  const text = textOf(value)
  return text !== undefined && text.length <= longest ? text : undefined
}

export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** What a message, a tool's answer or a block of either says: a string, or the texts among its blocks. */
export function saidIn(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .flatMap((block) => {
      if (typeof block === 'string') return [block]
      const fields = objectOf(block)
      return fields?.['type'] === 'text' && typeof fields['text'] === 'string'
        ? [fields['text']]
        : []
    })
    .join('\n')
}
