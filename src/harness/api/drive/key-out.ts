// A key is known by its value alone; servers repeat what they were sent.
const MARK = '[redacted:api-key]'
/** Shorter values are placeholders such as `none`, which occur in ordinary text. */
const SHORTEST = 8

export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST) return text
  const inJson = escaped(key)
  return [key, inJson, escaped(inJson)].reduce((rest, form) => rest.replaceAll(form, MARK), text)
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function withoutKeyIn<T>(value: T, key: string | undefined): T {
  const clean = (inner: unknown): unknown => {
    if (typeof inner === 'string') return withoutKey(inner, key)
    if (Array.isArray(inner)) return inner.map(clean)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(
      Object.entries(inner).map(([name, field]) => [withoutKey(name, key), clean(field)]),
    )
  }
  return clean(value) as T
}

/** Holds back what may be the beginning of the key until more is known. */
export class PiecesWithoutKey {
  readonly #key: string | undefined
  #held = ''

  constructor(key: string | undefined) {
    this.#key = key
  }

  take(piece: string): string {
    const text = withoutKey(this.#held + piece, this.#key)
    const from = this.#beginningIn(text)
    this.#held = text.slice(from)
    return text.slice(0, from)
  }

  #beginningIn(text: string): number {
    const key = this.#key
    if (key === undefined || key.length < SHORTEST) return text.length
    for (let at = Math.max(0, text.length - key.length + 1); at < text.length; at += 1)
      if (key.startsWith(text.slice(at))) return at
    return text.length
  }
}
