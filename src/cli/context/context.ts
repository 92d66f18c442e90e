import type { CommandContext, StricliProcess } from '@stricli/core'
import { isSystemError } from '../../core.ts'
import { type PublicError, StintError, publicError } from '../../public/projection.ts'
import { printableJson } from '../../text/printable.ts'
import { CLEAR_LINE, trusted } from './trusted-output.ts'

/** The environment of a command, which tests replace. */
export interface CliContext extends CommandContext {
  readonly process: StricliProcess
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The user can be asked: stdin, stdout and stderr are terminals, and this is not CI. */
  readonly canAsk: boolean
  readonly hasColour: boolean
  readStdin(): Promise<string>
}

export const EXIT = { ok: 0, failure: 1, misuse: 2, defect: 70, interrupted: 130 } as const

/** An invalid command line: exit code 2, with a hint what to type instead. */
export class UsageError extends StintError {
  override readonly name = 'UsageError'
  constructor(message: string, hint?: string) {
    super('MISUSE', message, hint)
  }
}

/** Error codes of the library for invalid or missing input. */
const BAD_INPUT_CODES: ReadonlySet<string> = new Set([
  'EMPTY_TEXT',
  'NEEDS_NAME',
  'BUDGET_OUT_OF_RANGE',
  'SCRIPT_INVALID',
])

export function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError) return EXIT.misuse
  if (error instanceof StintError && error.code === 'INTERRUPTED') return EXIT.interrupted
  if (error instanceof StintError && BAD_INPUT_CODES.has(error.code)) return EXIT.misuse
  return error instanceof StintError || isSystemError(error) ? EXIT.failure : EXIT.defect
}

/** What happened and what to do next. Only a defect shows its stack. */
export function describeError(error: unknown): string {
  if (error instanceof StintError)
    return error.hint === undefined
      ? `stint: ${error.message}`
      : `stint: ${error.message}\n  ${error.hint}`
  if (isSystemError(error)) return `stint: ${(error as Error).message}`
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `stint: this is a defect in stint, nothing recorded was lost\n${stack}`
}

export function errorJson(error: unknown): { readonly error: PublicError } {
  return { error: publicError(error) }
}

/** Results go to stdout, messages to stderr. */
export class Output {
  readonly #context: CliContext

  constructor(context: CliContext) {
    this.#context = context
  }

  line(text: string): void {
    this.#context.process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  json(value: unknown, indent?: number): void {
    this.line(printableJson(value, indent))
  }

  /** An export: its bytes as they are, except on a terminal. */
  raw(text: string): void {
    const stdout = this.#context.process.stdout as Partial<NodeJS.WriteStream>
    const content = text.endsWith('\n') ? text : `${text}\n`
    this.#context.process.stdout.write(stdout.isTTY === true ? content : trusted(content))
  }

  info(line: string): void {
    this.#context.process.stderr.write(`stint: ${line}\n`)
  }

  /** A line that the next one overwrites, on a terminal only. */
  progress(done: number, total: number, what = 'sessions'): void {
    if (!this.#context.canAsk) return
    this.#context.process.stderr.write(
      `${CLEAR_LINE}stint: reading ${what} ${done}/${total}${done === total ? CLEAR_LINE : ''}`,
    )
  }

  bold(text: string): string {
    return this.#styled(text, 1)
  }

  dim(text: string): string {
    return this.#styled(text, 2)
  }

  #styled(text: string, code: number) {
    return this.#context.hasColour
      ? `${trusted(`\u001B[${code}m`)}${text}${trusted('\u001B[22m')}`
      : text
  }
}

/** The first signal ends the wait; the second ends the process as usual. */
export class Interrupt {
  readonly #controller = new AbortController()
  readonly #signals: readonly NodeJS.Signals[]
  readonly interrupted: Promise<void>

  constructor(...signals: readonly NodeJS.Signals[]) {
    this.#signals = signals.length === 0 ? ['SIGINT'] : signals
    this.interrupted = new Promise((resolve) =>
      this.signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    for (const signal of this.#signals) process.on(signal, this.trigger)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly trigger = (): void => {
    this.dispose()
    this.#controller.abort()
  }

  /** Runs work that SIGINT interrupts. */
  static async during(work: (interrupt: Interrupt) => Promise<void>): Promise<void> {
    const interrupt = new Interrupt()
    try {
      await work(interrupt)
    } finally {
      interrupt.dispose()
    }
  }

  /** The result of the work, or undefined when interrupted first. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.interrupted.then(() => undefined)])
  }

  exitCode(isSuccess: boolean): number {
    if (this.signal.aborted) return EXIT.interrupted
    return isSuccess ? EXIT.ok : EXIT.failure
  }

  dispose(): void {
    for (const signal of this.#signals) process.off(signal, this.trigger)
  }
}

const CTRL_C = '\u0003'

/** Calls `quit` on q or Ctrl-C, which raw mode delivers as a key. Returns a function that restores the terminal. */
export function onQuitKey(quit: () => void): () => void {
  const { stdin } = process
  if (!stdin.isTTY) return () => {}
  const onData = (data: Buffer): void => {
    if (/q/i.test(data.toString()) || data.includes(CTRL_C)) quit()
  }
  stdin.setRawMode(true)
  stdin.on('data', onData).resume()
  return () => {
    stdin.off('data', onData).pause()
    stdin.setRawMode(false)
  }
}
