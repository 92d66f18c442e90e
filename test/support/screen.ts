// A terminal emulator behind the cleaning of a command's output, as far as our programs need one.
import { printedText, withoutTrusted } from '../../src/cli/context/trusted-output.ts'

const TOKENS = /\u001B\[[?\d;]*[A-Za-z]|[^\u001B]/gu
const COMMAND = /^\u001B\[([?\d;]*)([A-Za-z])$/

interface Row {
  text: string
  /** Continues in the next row, because the terminal became too narrow. Reset when the whole row is cleared. */
  isBroken: boolean
}

/**
 * Behaves like tmux. Rows that scroll off at the top are kept. A narrower screen breaks rows, a wider one joins them again, whatever was
 * written over them. Clearing from the first cell moves the content into the history.
 */
export class Screen {
  columns: number
  rows: number
  isCursorShown = true
  writes: string[] = []
  readonly #listeners = new Set<() => void>()
  /** Everything, including what has scrolled off. */
  #lines: Row[] = [{ text: '', isBroken: false }]
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
    const wanted: Row[] = []
    let joined = ''
    for (const [index, { text, isBroken }] of this.#lines.entries()) {
      joined += isBroken ? text.padEnd(this.columns) : text
      const pieces = joined.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']
      if (index === this.#row) {
        this.#row = wanted.length + pieces.length - 1
        this.#column = pieces.at(-1)!.length
      }
      if (isBroken) continue
      wanted.push(...pieces.map((piece, at) => ({ text: piece, isBroken: at < pieces.length - 1 })))
      joined = ''
    }
    this.#lines = wanted
    this.columns = columns
    this.rows = rows
    for (const listener of this.#listeners) listener()
  }

  write(output: string): void {
    // What another process wrote is cleaned already.
    const text = withoutTrusted(output) === output ? output : printedText(output)
    this.writes.push(text)
    for (const [token] of text.matchAll(TOKENS)) this.#take(token)
  }

  /** What a person sees, with trailing blanks trimmed. */
  text(): string {
    return this.#lines
      .map((line) => line.text.trimEnd())
      .join('\n')
      .trimEnd()
  }

  #take(token: string): void {
    const [, count = '', command] = COMMAND.exec(token) ?? []
    if (token === '\r') this.#column = 0
    else if (token === '\n') this.#down()
    else if (command === 'A') this.#row = Math.max(this.#top, this.#row - Number(count))
    else if (command === 'B')
      this.#row = Math.min(this.#lines.length - 1, this.#row + Number(count || 1))
    else if (command === 'K' && count === '2')
      this.#lines[this.#row] = { text: '', isBroken: false }
    else if (command === 'K') this.#clearRest()
    else if (command === 'J') this.#clearBelow()
    else if (count === '?25') this.isCursorShown = command === 'h'
    else if (command === undefined) this.#put(token)
    else if (!(command === 'm' || count === '?2026'))
      throw new Error(`the screen does not know ${JSON.stringify(token)}`)
  }

  get #top(): number {
    return Math.max(0, this.#lines.length - this.rows)
  }

  #clearRest(): void {
    const line = this.#lines[this.#row]!
    line.text = line.text.slice(0, this.#column)
  }

  #clearBelow(): void {
    if (this.#row === this.#top && this.#column === 0) {
      this.#row = this.#lines.length
      this.#lines.push({ text: '', isBroken: false })
      return
    }
    this.#lines.length = this.#row + 1
    this.#clearRest()
  }

  #down(): void {
    this.#row += 1
    if (this.#row === this.#lines.length) this.#lines.push({ text: '', isBroken: false })
  }

  #put(character: string): void {
    if (this.#column === this.columns) {
      this.#down()
      this.#column = 0
    }
    const line = this.#lines[this.#row]!
    const text = line.text.padEnd(this.#column)
    line.text =
      text.slice(0, this.#column) + character + text.slice(this.#column + character.length)
    this.#column += character.length
  }
}
