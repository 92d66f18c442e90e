export interface GitState {
  readonly branch?: string
  readonly commit?: string
  readonly dirty?: number
}

/** Token counts of a model call. The context it left is the sum of all but the output. */
export interface Usage {
  readonly input: number
  readonly cacheWritten: number
  readonly cacheRead: number
  readonly output: number
}

/** The id of the item before it, or `start`. */
export type PrecedingItemId = string

/** The delegate from whose journal the entry was copied. */
export type SourceDelegate = string

export function item(
  entry: { readonly id: string; readonly at: string },
  text: unknown,
  whenStated?: unknown,
) {
  return { id: entry.id, text: str(text), at: when(whenStated, entry.at) }
}

export function when(stated: unknown, at: string): string {
  return nonEmptyString(stated) ?? at
}

export function str(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function fields<K extends string>(data: object, ...names: K[]): { [P in K]?: string } {
  const found: { [P in K]?: string } = {}
  for (const name of names) {
    const value = nonEmptyString((data as Record<string, unknown>)[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

export function usageOf(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { input, cacheWritten, cacheRead, output } = value as Record<string, unknown>
  return {
    input: amount(input),
    cacheWritten: amount(cacheWritten),
    cacheRead: amount(cacheRead),
    output: amount(output),
  }
}

function amount(value: unknown) {
  return amountOf(value) ?? 0
}

export function amountOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}

export function gitOf(value: unknown): GitState | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { branch, commit, dirty } = value as Record<string, unknown>
  return {
    ...(typeof branch === 'string' ? { branch } : {}),
    ...(typeof commit === 'string' ? { commit } : {}),
    ...(typeof dirty === 'number' ? { dirty } : {}),
  }
}
