import { type RedactOptions, redact } from '../../text/redact.ts'

const LONGEST = 65_536
const HALF = LONGEST / 2
// Longer than any secret, so that one at the edge of what is kept is seen whole before it is cut.
const MARGIN = 40_000
const DEEPEST = 400

/**
 * A value whose strings are of bounded length: of a longer one, both ends and its length are left, without the
 * secrets in them. Pictures are left out, since nobody said them.
 */
export function withoutLongStrings(value: unknown, redaction: RedactOptions, depth = 0): unknown {
  if (typeof value === 'string') return value.length > LONGEST ? bothEnds(value, redaction) : value
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return '[left out: nested too deep]'
  if (Array.isArray(value)) return value.map((item) => withoutLongStrings(item, redaction, depth + 1))
  const fields = value as Record<string, unknown>
  if (fields['type'] === 'base64' && typeof fields['data'] === 'string') {
    return { ...fields, data: `[${fields['data'].length} characters left out]` }
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withoutLongStrings(field, redaction, depth + 1)]),
  )
}

function bothEnds(text: string, redaction: RedactOptions): string {
  const start = redact(text.slice(0, HALF + MARGIN), redaction).text.slice(0, HALF)
  const end = redact(text.slice(-HALF - MARGIN), redaction).text.slice(-HALF)
  return `${start.toWellFormed()}\n[the middle of ${text.length} characters is left out]\n${end.toWellFormed()}`
}
