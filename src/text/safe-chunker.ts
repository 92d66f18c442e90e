const WINDOW = 1024 * 1024
/** Longer than any secret: a private key has up to 32 KB. */
const REACH = 40 * 1024
const TRIES = 8
const LONGEST_WINDOWS = 4

/** Cuts a stream where the text around the cut is changed to the same with and without it, so pieces can be redacted one by one. */
export class SafeChunker {
  readonly #change: (text: string) => string
  readonly #window: number
  readonly #reach: number
  #held = ''

  constructor(change: (text: string) => string, window = WINDOW) {
    this.#change = change
    this.#window = window
    this.#reach = Math.min(REACH, Math.floor(window / 4))
  }

  push(text: string): string {
    this.#held += text
    return this.#held.length < this.#window ? '' : this.#take(this.#cut())
  }

  flush(): string {
    return this.#take(this.#held.length)
  }

  #take(length: number) {
    const piece = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return piece
  }

  #cut() {
    const reach = this.#reach
    let at = this.#held.length - reach
    for (let tries = 0; tries < TRIES && at > reach; tries += 1) {
      const newline = this.#held.lastIndexOf('\n', at - 1) + 1
      const isLine = newline > reach
      // A line without end is cut anywhere, but not inside a character.
      const cut = isLine ? newline : wholeCharacters(this.#held, at)
      if (this.#isSafe(cut)) return cut
      at = cut - (isLine ? 1 : Math.ceil(reach / TRIES))
    }
    return this.#held.length > LONGEST_WINDOWS * this.#window ? this.#held.length : 0
  }

  #isSafe(cut: number) {
    const before = this.#held.slice(Math.max(0, cut - this.#reach), cut)
    const after = this.#held.slice(cut, cut + this.#reach)
    return this.#change(before + after) === this.#change(before) + this.#change(after)
  }
}

function wholeCharacters(text: string, at: number) {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at
}
