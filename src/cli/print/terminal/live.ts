// Lines that are drawn in place. By hand, since a library for it takes longer to load than everything else together.
import { formatSeconds, formatInteger } from '../../../text/format-amounts.ts'
import { visibleLine } from '../../../text/visible-line.ts'
import type { CliContext } from '../../context/context.ts'
import { displayWidth } from './layout.ts'

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
const CLEAR_LINE = `\r${CLEAR_REST}`

export interface FrameSize {
  readonly columns: number
  readonly rows: number
  readonly now: string
}

/** A block at the end of the terminal that is drawn again when asked, and each second. Each frame is one write. */
export class LiveBlock {
  readonly #terminal: Terminal
  readonly #lines: (size: FrameSize) => readonly string[]
  readonly #now: () => number
  #staying: string[] = []
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
  printAbove(...lines: readonly string[]): void {
    this.#staying.push(...lines)
    this.scheduleDraw()
  }

  /** Takes the block away, for another writer on this terminal. */
  pause(): void {
    if (!this.#isOn) return
    this.#isOn = false
    clearTimeout(this.#next)
    clearInterval(this.#tick)
    this.#next = undefined
    this.#terminal.off?.('resize', this.scheduleDraw)
    process.off('exit', this.#onExit).off('SIGTSTP', this.#onSuspend)
    this.#terminal.write(`${this.#erased()}${this.#takeStaying()}${SHOW}`)
    this.#drawn = []
  }

  resume(): void {
    if (this.#isOn) return
    this.#isOn = true
    this.#tick = setInterval(this.scheduleDraw, TICK_MS).unref()
    this.#terminal.on?.('resize', this.scheduleDraw)
    process.on('exit', this.#onExit).on('SIGTSTP', this.#onSuspend)
    this.scheduleDraw()
  }

  /** After an uncaught error the last frame stays, as a sign of where it was. */
  readonly #onExit = () => void this.#terminal.write(`\r\n${SHOW}`)

  readonly #onSuspend = () => {
    this.pause()
    process.once('SIGCONT', () => this.resume())
    process.kill(process.pid, 'SIGSTOP')
  }

  get columns(): number {
    return this.#terminal.columns || 80
  }

  readonly scheduleDraw = (): void => {
    if (!this.#isOn || this.#next !== undefined) return
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - this.#now())
    // A clock that was set back does not stop the view.
    this.#next = setTimeout(() => this.#draw(), Math.min(wait, FRAME_MS)).unref()
  }

  #draw(): void {
    this.#next = undefined
    const now = this.#now()
    this.#drawnAt = now
    const { columns } = this
    const rows = this.#terminal.rows || 24
    const lines = this.#lines({ columns, rows, now: new Date(now).toISOString() })
    const isSame =
      lines.length === this.#drawn.length &&
      lines.every((text, index) => text === this.#drawn[index])
    if (isSame && this.#staying.length === 0) return
    const block = lines.map((text) => `${text}${CLEAR_REST}`).join('\r\n')
    // Terminals join rows that they broke in two again when they become wider, whatever was written over them since; rows
    // that were cleared whole are forgotten.
    const top = columns === this.#drawnOn ? this.#toTop() : this.#erased()
    this.#terminal.write(`${BEGIN}${HIDE}${top}${this.#takeStaying()}${block}${CLEAR_BELOW}${END}`)
    this.#drawn = lines
    this.#drawnOn = columns
  }

  #takeStaying(): string {
    const lines = this.#staying.map((text) => `${text}${CLEAR_REST}\r\n`)
    this.#staying = []
    return lines.join('')
  }

  #toTop(): string {
    const rows = this.#rows()
    return rows > 1 ? `\r${ESC}${rows - 1}A` : '\r'
  }

  /** Row by row: some terminals keep a screen that is cleared as a whole, as history. */
  #erased(): string {
    const rows = Array.from({ length: this.#rows() }, () => CLEAR_ROW)
    return rows.length === 0 ? '\r' : `${this.#toTop()}${rows.join(`${ESC}B`)}${this.#toTop()}`
  }

  /** How many rows the block takes. A terminal that became narrower since has broken its lines into more. */
  #rows(): number {
    const { columns } = this
    return this.#drawn.reduce(
      (sum, text) => sum + Math.max(1, Math.ceil(displayWidth(text) / columns)),
      0,
    )
  }
}

const WIDTH = 24

/** A share as a bar of fixed width, and in percent. */
export function progressBar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const done = Math.round(within * WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${Math.floor(within * 100)} %`
}

export class ProgressLine {
  readonly #write: (text: string) => void
  #drawnAt = -Infinity

  static forContext({ canAsk, process: { stderr } }: CliContext): ProgressLine | undefined {
    return canAsk ? new ProgressLine((text) => stderr.write(text)) : undefined
  }

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  draw(text: () => string): void {
    const now = performance.now()
    if (now - this.#drawnAt < FRAME_MS) return
    this.#drawnAt = now
    this.#write(`${CLEAR_LINE}${text()}`)
  }

  clear(): void {
    this.#write(CLEAR_LINE)
  }
}

const EVERY_MS = 500
const NEWLINE = 0x0a

/** On a terminal, a line on standard error that shows the output of a command while it runs. Elsewhere nothing. */
export class CommandOutputLine {
  readonly #terminal: Terminal | undefined
  readonly #startedAt = process.hrtime.bigint()
  readonly #timer: NodeJS.Timeout | undefined
  #lines = 0
  #last: Buffer = Buffer.alloc(0)

  constructor(context: CliContext) {
    const stderr = context.process.stderr as Terminal
    if (stderr.isTTY !== true) return
    this.#terminal = stderr
    this.#timer = setInterval(() => this.#draw(), EVERY_MS)
  }

  add(lines: Buffer): void {
    if (this.#terminal === undefined) return
    for (let at = lines.indexOf(NEWLINE); at !== -1; at = lines.indexOf(NEWLINE, at + 1))
      this.#lines += 1
    this.#last = Buffer.from(lines.subarray(-1000))
  }

  end(): void {
    clearInterval(this.#timer)
    this.#terminal?.write(CLEAR_LINE)
  }

  #draw(): void {
    const seconds = Number(process.hrtime.bigint() - this.#startedAt) / 1e9
    const last = this.#last.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
    const text = `${formatSeconds(seconds)}, ${formatInteger(this.#lines)} lines  ${visibleLine(last).trim()}`
    this.#terminal!.write(`${CLEAR_LINE}${text.slice(0, (this.#terminal!.columns || 80) - 1)}`)
  }
}
