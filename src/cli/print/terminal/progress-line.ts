import { formatInteger, formatSeconds } from '../../../text/format-amounts.ts'
import { visibleLine } from '../../../text/visible-line.ts'
import type { CliContext } from '../../context/context.ts'
import type { Terminal } from './live-block.ts'
import { CLEAR_LINE } from '../../context/trusted-output.ts'

const MIN_FRAME_MS = 100
const BAR_WIDTH = 24

/** A share as a bar and in percent. */
export function progressBar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const done = Math.round(within * BAR_WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(BAR_WIDTH - done)} ${Math.floor(within * 100)} %`
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
    if (now - this.#drawnAt < MIN_FRAME_MS) return
    this.#drawnAt = now
    this.#write(`${CLEAR_LINE}${text()}`)
  }

  clear(): void {
    this.#write(CLEAR_LINE)
  }
}

const REDRAW_MS = 500
const NEWLINE = 0x0a

/** On a terminal, a line on stderr with the last output of a running command. Elsewhere nothing. */
export class CommandOutputLine {
  readonly #terminal: Terminal | undefined
  readonly #startedAt = process.hrtime.bigint()
  readonly #timer: NodeJS.Timeout | undefined
  #lineCount = 0
  #last: Buffer = Buffer.alloc(0)

  constructor(context: CliContext) {
    const stderr = context.process.stderr as Terminal
    if (stderr.isTTY !== true) return
    this.#terminal = stderr
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
  }

  add(lines: Buffer): void {
    if (this.#terminal === undefined) return
    for (let at = lines.indexOf(NEWLINE); at !== -1; at = lines.indexOf(NEWLINE, at + 1))
      this.#lineCount += 1
    this.#last = Buffer.from(lines.subarray(-1000))
  }

  end(): void {
    clearInterval(this.#timer)
    this.#terminal?.write(CLEAR_LINE)
  }

  #draw(): void {
    const seconds = Number(process.hrtime.bigint() - this.#startedAt) / 1e9
    const last = this.#last.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
    const text = `${formatSeconds(seconds)}, ${formatInteger(this.#lineCount)} lines  ${visibleLine(last).trim()}`
    this.#terminal!.write(`${CLEAR_LINE}${text.slice(0, (this.#terminal!.columns || 80) - 1)}`)
  }
}
