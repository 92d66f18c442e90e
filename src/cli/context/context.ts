import type { CommandContext, StricliProcess } from '@stricli/core'
import { isSystemError } from '../../core.ts'
import { type PublicError, StintError, publicError } from '../../public.ts'

/** What a command may use of the world, so that a test can give it another one. */
export interface CliContext extends CommandContext {
  readonly process: StricliProcess
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Somebody can be asked: both ends are a terminal and this is no CI. */
  readonly canAsk: boolean
  readonly hasColour: boolean
  /** All that comes, to its end. */
  readStdin(): Promise<string>
}

export const EXIT = { ok: 0, failure: 1, misuse: 2, defect: 70, interrupted: 130 } as const

/** The command line was not understood: exit 2, and what to type instead. */
export class UsageError extends StintError {
  override readonly name = 'Misuse'
  constructor(message: string, hint?: string) {
    super('MISUSE', message, hint)
  }
}

/** What the library refuses because of what was given, or because nothing was where something has to be. */
const GIVEN_WRONG: ReadonlySet<string> = new Set([
  'EMPTY_TEXT',
  'NEEDS_NAME',
  'BUDGET_OUT_OF_RANGE',
  'SCRIPT_INVALID',
])

export function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError) return EXIT.misuse
  if (error instanceof StintError && error.code === 'INTERRUPTED') return EXIT.interrupted
  if (error instanceof StintError && GIVEN_WRONG.has(error.code)) return EXIT.misuse
  return error instanceof StintError || isSystemError(error) ? EXIT.failure : EXIT.defect
}

/** An error in words: what happened and what to do next. Only a defect shows its stack. */
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

/** Results go to standard output and nothing else does; talk goes to standard error. */
export class Output {
  readonly #context: CliContext

  constructor(context: CliContext) {
    this.#context = context
  }

  /** A line of the result. */
  line(text: string): void {
    this.#context.process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  info(line: string): void {
    this.#context.process.stderr.write(`stint: ${line}\n`)
  }

  /** A line that the next one replaces, on a terminal only. */
  progress(done: number, total: number, what = 'sessions'): void {
    if (!this.#context.canAsk) return
    this.#context.process.stderr.write(
      `\r\u001B[Kstint: reading ${what} ${done}/${total}${done === total ? '\r\u001B[K' : ''}`,
    )
  }

  bold(text: string): string {
    return this.#context.hasColour ? `\u001B[1m${text}\u001B[22m` : text
  }

  dim(text: string): string {
    return this.#context.hasColour ? `\u001B[2m${text}\u001B[22m` : text
  }
}

export const INTERRUPTED = EXIT.interrupted

/** The first of these signals ends what a command waits for. A second one ends the command itself, as anywhere else. */
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

  /** Work that one of these signals may interrupt, SIGINT unless others are named. */
  static async during(
    work: (interrupt: Interrupt) => Promise<void>,
    ...signals: readonly NodeJS.Signals[]
  ): Promise<void> {
    const interrupt = new Interrupt(...signals)
    try {
      await work(interrupt)
    } finally {
      interrupt.dispose()
    }
  }

  /** What work comes to, or undefined when the interrupt came first. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.interrupted.then(() => undefined)])
  }

  exitCode(isGood: boolean): number {
    if (this.signal.aborted) return INTERRUPTED
    return isGood ? EXIT.ok : EXIT.failure
  }

  dispose(): void {
    for (const signal of this.#signals) process.off(signal, this.trigger)
  }
}

const CTRL_C = '\u0003'

/** Calls `quit` when a person presses q or Ctrl-C, which in this mode is a key like any other. Answers how to end it. */
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
