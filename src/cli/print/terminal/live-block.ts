// Lines drawn in place. Written by hand, since a library takes longer to load than everything else together.
import type { CliContext } from '../../context/context.ts'
import { displayWidth } from './layout.ts'
import { trusted } from '../../context/trusted-output.ts'

export interface Terminal {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  readonly isTTY?: boolean
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

export function liveTerminal({ process: { stderr }, env }: CliContext): Terminal | undefined {
  const terminal = stderr as Terminal
  const isLive = terminal.isTTY === true && env.CI === undefined && env.TERM !== 'dumb'
  return isLive ? terminal : undefined
}

const MIN_FRAME_MS = 100
const TICK_MS = 1000

const ESC = '\u001B['
const LINE_END = trusted('\r\n')
const HIDE_CURSOR = trusted(`${ESC}?25l`)
const SHOW_CURSOR = trusted(`${ESC}?25h`)
// Synchronized output: terminals that support it show the frame at once; others ignore it.
const BEGIN_FRAME = trusted(`${ESC}?2026h`)
const END_FRAME = trusted(`${ESC}?2026l`)
const CLEAR_REST = trusted(`${ESC}K`)
const CLEAR_ROW = trusted(`${ESC}2K`)
const CLEAR_BELOW = trusted(`${ESC}J`)

export interface FrameSize {
  readonly columns: number
  readonly rows: number
  readonly now: string
}

/** A block at the end of the terminal, redrawn on demand and each second. Each frame is one write. */
export class LiveBlock {
  readonly #terminal: Terminal
  readonly #render: (size: FrameSize) => readonly string[]
  readonly #now: () => number
  #linesAbove: string[] = []
  #drawn: readonly string[] = []
  #drawnColumns = 0
  #drawnAt = -Infinity
  #drawTimer: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #isActive = false

  constructor(
    terminal: Terminal,
    lines: (size: FrameSize) => readonly string[],
    now: () => number = Date.now,
  ) {
    this.#terminal = terminal
    this.#render = lines
    this.#now = now
    this.resume()
  }

  /** Lines that stay above the block. */
  printAbove(...lines: readonly string[]): void {
    this.#linesAbove.push(...lines)
    this.scheduleDraw()
  }

  /** Removes the block, for another writer on this terminal. */
  pause(): void {
    if (!this.#isActive) return
    this.#isActive = false
    clearTimeout(this.#drawTimer)
    clearInterval(this.#tick)
    this.#drawTimer = undefined
    this.#terminal.off?.('resize', this.scheduleDraw)
    process.off('exit', this.#onExit).off('SIGTSTP', this.#onSuspend)
    this.#terminal.write(`${this.#erase()}${this.#takeLinesAbove()}${SHOW_CURSOR}`)
    this.#drawn = []
  }

  resume(): void {
    if (this.#isActive) return
    this.#isActive = true
    this.#tick = setInterval(this.scheduleDraw, TICK_MS).unref()
    this.#terminal.on?.('resize', this.scheduleDraw)
    process.on('exit', this.#onExit).on('SIGTSTP', this.#onSuspend)
    this.scheduleDraw()
  }

  /** After an uncaught error the last frame stays visible. */
  readonly #onExit = () => void this.#terminal.write(`${LINE_END}${SHOW_CURSOR}`)

  readonly #onSuspend = () => {
    this.pause()
    process.once('SIGCONT', () => this.resume())
    process.kill(process.pid, 'SIGSTOP')
  }

  get columns(): number {
    return this.#terminal.columns || 80
  }

  readonly scheduleDraw = (): void => {
    if (!this.#isActive || this.#drawTimer !== undefined) return
    const wait = Math.max(0, this.#drawnAt + MIN_FRAME_MS - this.#now())
    // A clock set back must not stop the view.
    this.#drawTimer = setTimeout(() => this.#draw(), Math.min(wait, MIN_FRAME_MS)).unref()
  }

  #draw(): void {
    this.#drawTimer = undefined
    const now = this.#now()
    this.#drawnAt = now
    const { columns } = this
    const rows = this.#terminal.rows || 24
    const lines = this.#render({ columns, rows, now: new Date(now).toISOString() })
    const isSame =
      lines.length === this.#drawn.length &&
      lines.every((text, index) => text === this.#drawn[index])
    if (isSame && this.#linesAbove.length === 0) return
    const block = lines.map((text) => `${text}${CLEAR_REST}`).join(LINE_END)
    // A terminal that gets wider rejoins the rows it had wrapped, even if they were overwritten; only cleared rows are
    // forgotten.
    const top = columns === this.#drawnColumns ? this.#moveToTop() : this.#erase()
    this.#terminal.write(
      `${BEGIN_FRAME}${HIDE_CURSOR}${top}${this.#takeLinesAbove()}${block}${CLEAR_BELOW}${END_FRAME}`,
    )
    this.#drawn = lines
    this.#drawnColumns = columns
  }

  #takeLinesAbove(): string {
    const lines = this.#linesAbove.map((text) => `${text}${CLEAR_REST}${LINE_END}`)
    this.#linesAbove = []
    return lines.join('')
  }

  #moveToTop(): string {
    const rows = this.#height()
    return trusted(rows > 1 ? `\r${ESC}${rows - 1}A` : '\r')
  }

  /** Row by row: some terminals push a screen that is cleared at once into the scrollback. */
  #erase(): string {
    const rows = Array.from({ length: this.#height() }, () => CLEAR_ROW)
    return rows.length === 0
      ? trusted('\r')
      : `${this.#moveToTop()}${rows.join(trusted(`${ESC}B`))}${this.#moveToTop()}`
  }

  /** The height of the block. A narrower terminal has wrapped its lines since. */
  #height(): number {
    const { columns } = this
    return this.#drawn.reduce(
      (sum, text) => sum + Math.max(1, Math.ceil(displayWidth(text) / columns)),
      0,
    )
  }
}
