// What a tool gives back costs the model that asked, so that nothing is given whole that may be long.
import { estimateTokens } from '../../text/tokens.ts'

/** The last of these that fit into so many tokens, and how many did not. */
export function latestWithin<T>(
  items: readonly T[],
  tokens: number,
): { readonly kept: readonly T[]; readonly leftOut: number } {
  let room = tokens
  let from = items.length
  while (from > 0) {
    room -= estimateTokens(JSON.stringify(items[from - 1]))
    if (room < 0) break
    from -= 1
  }
  return { kept: items.slice(from), leftOut: from }
}

/** The same with every long text cut, and that said where it is. */
export function clipDeep<T>(value: T, longest: number): T {
  if (typeof value === 'string') return clipText(value, longest) as T
  if (Array.isArray(value)) return value.map((item) => clipDeep(item, longest)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, clipDeep(field, longest)]),
  ) as T
}

export function clipText(text: string, longest: number): string {
  if (text.length <= longest) return text
  // Half a character would not be one.
  const cut = text.slice(0, longest).toWellFormed()
  return `${cut}\n… ${text.length - longest} more characters`
}
