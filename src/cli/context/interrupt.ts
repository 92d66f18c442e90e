import { EXIT } from './errors.ts'

export const INTERRUPTED = EXIT.interrupted

/** The first of these signals ends what a command waits for. A second one ends the command itself, as anywhere else. */
export class Interrupt {
  readonly #controller = new AbortController()
  readonly #signals: readonly NodeJS.Signals[]
  readonly came: Promise<void>

  constructor(...signals: readonly NodeJS.Signals[]) {
    this.#signals = signals.length === 0 ? ['SIGINT'] : signals
    this.came = new Promise((resolve) =>
      this.signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    for (const signal of this.#signals) process.on(signal, this.now)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly now = (): void => {
    this.dispose()
    this.#controller.abort()
  }

  /** What work comes to, or undefined when the interrupt came first. */
  orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.came.then(() => undefined)])
  }

  exitCode(isGood: boolean): number {
    if (this.signal.aborted) return INTERRUPTED
    return isGood ? EXIT.ok : EXIT.failure
  }

  dispose(): void {
    for (const signal of this.#signals) process.off(signal, this.now)
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
