import type { Context } from './context.ts'
import { EXIT, errorJson, exitCodeFor } from './errors.ts'

/** Results go to standard output and nothing else does; talk goes to standard error. */
export class Output {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  /** The result: as JSON when asked, else in words. */
  result(isJson: boolean | undefined, value: unknown, words: () => string): void {
    const text = isJson === true ? JSON.stringify(value, undefined, 2) : words()
    this.line(text)
  }

  /** A line of the result. */
  line(text: string): void {
    this.#context.process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  talk(line: string): void {
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

/** Does the work of a command. With `--json` an error is JSON too; on one line where everything else is. */
export async function withJsonErrors(
  context: Context,
  flags: { json?: boolean | undefined },
  output: Output,
  work: () => Promise<void>,
  indent: 0 | 2 = 2,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (flags.json !== true || exitCodeFor(error) === EXIT.defect) throw error
    output.line(JSON.stringify(errorJson(error), undefined, indent))
    // Set and not thrown: the parser would say a thrown one once more on standard error.
    context.process.exitCode = exitCodeFor(error)
  }
}
