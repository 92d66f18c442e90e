// Draws lines in place. Each frame is one write: up to where the block began, what is to stay, the block again. Written by
// hand, since a library for it takes longer to load than everything else together.
import { widthOf } from './width.ts'

/** What a view needs of a terminal. */
export interface Terminal {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

const FRAME_MS = 100
const TICK_MS = 1000

const ESC = '\u001B['
const HIDE = `${ESC}?25l`
const SHOW = `${ESC}?25h`
// A terminal that knows them shows what is between only when it is whole; others ignore them.
const BEGIN = `${ESC}?2026h`
const END = `${ESC}?2026l`
const CLEAR_REST = `${ESC}K`
const CLEAR_ROW = `${ESC}2K`
const CLEAR_BELOW = `${ESC}J`

export interface FrameSize {
  readonly columns: number
  readonly rows: number
  readonly now: string
}

/** A block at the end of the terminal that is drawn again when asked, and each second. */
export class LiveBlock {
  readonly #terminal: Terminal
  readonly #lines: (size: FrameSize) => readonly string[]
  readonly #now: () => number
  /** What is to stay above the block and is not written yet. */
  #staying: string[] = []
  /** The block as it stands on the terminal. */
  #drawn: readonly string[] = []
  #drawnOn = 0
  #drawnAt = -Infinity
  #next: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #isOn = false

  constructor(
    terminal: Terminal,
    lines: (size: FrameSize) => readonly string[],
    now: () => number = Date.now,
  ) {
    this.#terminal = terminal
    this.#lines = lines
    this.#now = now
    this.resume()
  }

  /** Lines that stay above the block. */
  keep(...lines: readonly string[]): void {
    this.#staying.push(...lines)
    this.soon()
  }

  /** Takes the block away and leaves the terminal to somebody else. */
  pause(): void {
    if (!this.#isOn) return
    this.#isOn = false
    clearTimeout(this.#next)
    clearInterval(this.#tick)
    this.#next = undefined
    this.#terminal.off?.('resize', this.#onResize)
    process.off('exit', this.#onExit).off('SIGTSTP', this.#onSuspend)
    this.#terminal.write(`${this.#erased()}${this.#takeStaying()}${SHOW}`)
    this.#drawn = []
  }

  resume(): void {
    if (this.#isOn) return
    this.#isOn = true
    this.#tick = setInterval(() => this.soon(), TICK_MS).unref()
    this.#terminal.on?.('resize', this.#onResize)
    process.on('exit', this.#onExit).on('SIGTSTP', this.#onSuspend)
    this.soon()
  }

  readonly #onResize = () => this.soon()

  /** The process ends by something that nobody caught: the last frame stays, as a sign of where it was. */
  readonly #onExit = () => void this.#terminal.write(`\r\n${SHOW}`)

  readonly #onSuspend = () => {
    this.pause()
    process.once('SIGCONT', () => this.resume())
    process.kill(process.pid, 'SIGSTOP')
  }

  get columns(): number {
    return this.#terminal.columns || 80
  }

  soon(): void {
    if (!this.#isOn || this.#next !== undefined) return
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - this.#now())
    // A clock that was set back does not stop the view.
    this.#next = setTimeout(() => this.#draw(), Math.min(wait, FRAME_MS)).unref()
  }

  #draw(): void {
    this.#next = undefined
    const now = this.#now()
    this.#drawnAt = now
    const size = { columns: this.columns, rows: this.#terminal.rows || 24 }
    const lines = this.#lines({ ...size, now: new Date(now).toISOString() })
    const isSame =
      lines.length === this.#drawn.length &&
      lines.every((text, index) => text === this.#drawn[index])
    if (isSame && this.#staying.length === 0) return
    const block = lines.map((text) => `${text}${CLEAR_REST}`).join('\r\n')
    // Terminals remember which rows they broke in two and join them again when they become wider, whatever was written over
    // them since; rows that were cleared whole are forgotten.
    const top = size.columns === this.#drawnOn ? this.#toTop() : this.#erased()
    this.#terminal.write(`${BEGIN}${HIDE}${top}${this.#takeStaying()}${block}${CLEAR_BELOW}${END}`)
    this.#drawn = lines
    this.#drawnOn = size.columns
  }

  #takeStaying(): string {
    const lines = this.#staying.map((text) => `${text}${CLEAR_REST}\r\n`)
    this.#staying = []
    return lines.join('')
  }

  /** Back to where the block begins. */
  #toTop(): string {
    const rows = this.#rows()
    return rows > 1 ? `\r${ESC}${rows - 1}A` : '\r'
  }

  /** The same, with nothing left of the block. Row by row: a screen that is cleared as a whole is kept by some, as history. */
  #erased(): string {
    const rows = Array.from({ length: this.#rows() }, () => CLEAR_ROW)
    return rows.length === 0 ? '\r' : `${this.#toTop()}${rows.join(`${ESC}B`)}${this.#toTop()}`
  }

  /** How many rows the block takes. A terminal that became narrower since has broken its lines into more. */
  #rows(): number {
    const columns = this.columns
    return this.#drawn.reduce(
      (sum, text) => sum + Math.max(1, Math.ceil(widthOf(text) / columns)),
      0,
    )
  }
}
