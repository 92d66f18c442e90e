// Results cost the model tokens, so everything that may be long is limited here.
import { estimateTokens } from '../../text/tokens.ts'

/** The latest items that fit into the token limit, and how many were left out. */
export function latestWithin<T>(
  items: readonly T[],
  tokens: number,
): { readonly latest: readonly T[]; readonly leftOut: number } {
  let tokensLeft = tokens
  let from = items.length
  while (from > 0) {
    tokensLeft -= estimateTokens(JSON.stringify(items[from - 1]))
    if (tokensLeft < 0) break
    from -= 1
  }
  return { latest: items.slice(from), leftOut: from }
}

/** Clips every long text inside a value. */
export function clipDeep<T>(value: T, maxLength: number): T {
  if (typeof value === 'string') return clipText(value, maxLength) as T
  if (Array.isArray(value)) return value.map((item) => clipDeep(item, maxLength)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, clipDeep(field, maxLength)]),
  ) as T
}

export function clipText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  // The cut may have split a surrogate pair.
  const cut = text.slice(0, maxLength).toWellFormed()
  return `${cut}\n… ${text.length - maxLength} more characters`
}
