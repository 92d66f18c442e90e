// What tells one use of a tool from another, in the order in which it does.
const TELLING = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'text',
  'name',
] as const
const LONGEST = 240

/** A tool's input in a line. */
export function summaryOf(input: unknown): string {
  if (typeof input === 'string') return oneLine(input)
  if (typeof input !== 'object' || input === null) return input === null ? '' : String(input)
  if (Array.isArray(input)) return oneLine(JSON.stringify(input))
  const fields = input as Readonly<Record<string, unknown>>
  for (const name of TELLING) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string' && value !== '') return oneLine(value)
    if (Array.isArray(value) && value.length > 0) return oneLine(value.map(String).join(' '))
  }
  const entries = Object.entries(fields)
  return entries.length === 0 ? '' : oneLine(JSON.stringify(input))
}

export function fieldsOf(input: unknown): readonly (readonly [string, string])[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [['input', asText(input)]]
  return Object.entries(input).map(([name, value]) => [name, asText(value)] as const)
}

export function oneLine(text: string): string {
  return text
    .slice(0, LONGEST * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST)
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
}
