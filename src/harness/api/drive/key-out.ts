// A key is known by its value alone: it need not look like one. Servers repeat what they were sent, in errors and in answers.
const MARK = '[redacted:api-key]'
/** What is shorter is no secret but a word such as `none`, for servers that want something there, and stands in many a text. */
const SHORTEST = 8

/** A text without the key, as it stands, and as JSON writes it, also within JSON. */
export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST) return text
  const inJson = escaped(key)
  return [key, inJson, escaped(inJson)].reduce((rest, form) => rest.replaceAll(form, MARK), text)
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The same for every text in a value of JSON. */
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

/** Takes a text in pieces, and holds back what may be the beginning of the key until more is known. */
export class PiecesWithoutKey {
  readonly #key: string | undefined
  #held = ''

  constructor(key: string | undefined) {
    this.#key = key
  }

  /** What may be told now. What is held at the end follows with the whole text. */
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
