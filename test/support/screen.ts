// A terminal as far as our programs use one: what stands on it after they wrote what they wrote.

// eslint-disable-next-line no-control-regex
const TOKENS = /\u001B\[[?\d;]*[A-Za-z]|[^\u001B]/gu
// eslint-disable-next-line no-control-regex
const COMMAND = /^\u001B\[([?\d;]*)([A-Za-z])$/

/** Rows scroll off at the top and are kept; a narrower terminal breaks its rows, as most do. */
export class Screen {
  columns: number
  rows: number
  isCursorShown = true
  writes: string[] = []
  readonly #listeners = new Set<() => void>()
  /** Everything, what has scrolled off included. */
  #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(columns = 80, rows = 24) {
    this.columns = columns
    this.rows = rows
  }

  on(_event: 'resize', listener: () => void): void {
    this.#listeners.add(listener)
  }

  off(_event: 'resize', listener: () => void): void {
    this.#listeners.delete(listener)
  }

  resize(columns: number, rows: number): void {
    const broken: string[] = []
    for (const [index, line] of this.#lines.entries()) {
      const pieces = line === '' ? [''] : (line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''])
      if (index === this.#row) {
        this.#row = broken.length + pieces.length - 1
        this.#column = pieces.at(-1)!.length
      }
      broken.push(...pieces)
    }
    this.#lines = broken
    this.columns = columns
    this.rows = rows
    for (const listener of this.#listeners) listener()
  }

  write(text: string): void {
    this.writes.push(text)
    for (const [token] of text.matchAll(TOKENS)) this.#take(token)
  }

  /** What a person sees, the end of each line and of the screen trimmed. */
  text(): string {
    return this.#lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  }

  #take(token: string): void {
    const [, count = '', command] = COMMAND.exec(token) ?? []
    if (token === '\r') this.#column = 0
    else if (token === '\n') this.#down()
    else if (command === 'A') this.#row = Math.max(this.#top, this.#row - Number(count))
    else if (command === 'K') this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    else if (command === 'J') {
      this.#lines.length = this.#row + 1
      this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    } else if (count === '?25') this.isCursorShown = command === 'h'
    else if (command === undefined) this.#put(token)
    else if (!(command === 'm' || count === '?2026')) throw new Error(`the screen does not know ${JSON.stringify(token)}`)
  }

  get #top(): number {
    return Math.max(0, this.#lines.length - this.rows)
  }

  #down(): void {
    this.#row += 1
    if (this.#row === this.#lines.length) this.#lines.push('')
  }

  #put(character: string): void {
    if (this.#column === this.columns) {
      this.#down()
      this.#column = 0
    }
    const line = this.#lines[this.#row]!.padEnd(this.#column)
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + character.length)
    this.#column += character.length
  }
}
