const WINDOW = 1024 * 1024
/** Longer than any secret: a private key has up to 32 KB. */
const REACH = 40 * 1024
const TRIES = 8
const MAX_WINDOWS = 4

/** Cuts a stream only where redacting the text around the cut gives the same result with and without the cut, so chunks can be redacted one by one. */
export class SafeChunker {
  readonly #redact: (text: string) => string
  readonly #window: number
  readonly #reach: number
  #buffer = ''

  constructor(change: (text: string) => string, window = WINDOW) {
    this.#redact = change
    this.#window = window
    this.#reach = Math.min(REACH, Math.floor(window / 4))
  }

  push(text: string): string {
    this.#buffer += text
    return this.#buffer.length < this.#window ? '' : this.#release(this.#cut())
  }

  flush(): string {
    return this.#release(this.#buffer.length)
  }

  #release(length: number) {
    const chunk = this.#buffer.slice(0, length)
    this.#buffer = this.#buffer.slice(length)
    return chunk
  }

  #cut() {
    const reach = this.#reach
    let at = this.#buffer.length - reach
    for (let tries = 0; tries < TRIES && at > reach; tries += 1) {
      const newline = this.#buffer.lastIndexOf('\n', at - 1) + 1
      const isLine = newline > reach
      // An endless line is cut anywhere except inside a character.
      const cut = isLine ? newline : characterStart(this.#buffer, at)
      if (this.#isSafe(cut)) return cut
      at = cut - (isLine ? 1 : Math.ceil(reach / TRIES))
    }
    return this.#buffer.length > MAX_WINDOWS * this.#window ? this.#buffer.length : 0
  }

  #isSafe(cut: number) {
    const before = this.#buffer.slice(Math.max(0, cut - this.#reach), cut)
    const after = this.#buffer.slice(cut, cut + this.#reach)
    return this.#redact(before + after) === this.#redact(before) + this.#redact(after)
  }
}

function characterStart(text: string, at: number) {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at
}
