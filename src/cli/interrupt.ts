import { EXIT } from './errors.ts'

export const INTERRUPTED = EXIT.interrupted

/** Ctrl-C ends what a command waits for. A second one, or being told to terminate, ends the command itself as anywhere else. */
export class Interrupt {
  readonly #controller = new AbortController()
  readonly #came: Promise<void>

  constructor() {
    this.#came = new Promise((resolve) =>
      this.signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    process.once('SIGINT', this.now)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly now = (): void => this.#controller.abort()

  /** What work comes to, or undefined when the interrupt came first. */
  orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#came.then(() => undefined)])
  }

  exitCode(isGood: boolean): number {
    if (this.signal.aborted) return INTERRUPTED
    return isGood ? EXIT.ok : EXIT.failure
  }

  dispose(): void {
    process.off('SIGINT', this.now)
  }
}
