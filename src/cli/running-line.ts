import { duration, grouped } from '../command/digest/compose.ts'
import { visibleLine } from '../command/digest/visible-line.ts'
import type { Context } from './context.ts'

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
    const text = `${duration(seconds)}, ${grouped(this.#lines)} lines  ${visibleLine(last).trim()}`
    this.#terminal!.write(`\r\u001B[K${text.slice(0, (this.#terminal!.columns || 80) - 1)}`)
  }
}
