import { duration, number } from '../../../text/amounts.ts'
import { visibleLine } from '../../../text/visible-line.ts'
import type { Context } from '../../context/context.ts'

const WIDTH = 24
/** How often the line is written anew, in milliseconds. */
const EVERY = 100

/** A share as a bar of fixed width, and in percent. */
export function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const done = Math.round(within * WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${Math.floor(within * 100)} %`
}

/** How far something has come, in one line that the next one replaces. */
export class ProgressLine {
  readonly #write: (text: string) => void
  #drawnAt = -Infinity

  /** On a terminal only. */
  static on({ canAsk, process: { stderr } }: Context): ProgressLine | undefined {
    return canAsk ? new ProgressLine((text) => stderr.write(text)) : undefined
  }

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  draw(text: () => string): void {
    const now = performance.now()
    if (now - this.#drawnAt < EVERY) return
    this.#drawnAt = now
    this.#write(`\r\u001B[K${text()}`)
  }

  clear(): void {
    this.#write('\r\u001B[K')
  }
}

const EVERY_MS = 500
const NEWLINE = 0x0a

/** On a terminal, a line on standard error that says how far a command has come, while it runs. Elsewhere nothing. */
export class RunningLine {
  readonly #terminal: { write(text: string): unknown; readonly columns?: number } | undefined
  readonly #startedAt = process.hrtime.bigint()
  readonly #timer: NodeJS.Timeout | undefined
  #lines = 0
  #last: Buffer = Buffer.alloc(0)

  constructor(context: Context) {
    const stderr = context.process.stderr as {
      write(text: string): unknown
      isTTY?: boolean
      columns?: number
    }
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

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#timer)
    this.#terminal?.write('\r\u001B[K')
  }

  #draw(): void {
    const seconds = Number(process.hrtime.bigint() - this.#startedAt) / 1e9
    const last = this.#last.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
    const text = `${duration(seconds)}, ${number(this.#lines)} lines  ${visibleLine(last).trim()}`
    this.#terminal!.write(`\r\u001B[K${text.slice(0, (this.#terminal!.columns || 80) - 1)}`)
  }
}
