import { type ChildProcess, spawn } from 'node:child_process'
import { streamLines } from '../../src/harness/process/spawn-guarded.ts'
import type { Answer, Deed, End, Order } from './orders.ts'

/** The result of an order: acknowledged items, and its end unless it was killed. */
export interface Served {
  readonly did: readonly Deed[]
  readonly end?: End
}

export class Worker {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #ended: Promise<void>
  #last: Promise<unknown> = Promise.resolve()
  #said = ''

  constructor(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv) {
    const [program, ...args] = command
    // Detached, so that Ctrl-C reaches only this process, which stops the other in order.
    this.#child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    // Writes to a killed process may be lost.
    this.#child.stdin!.on('error', () => undefined)
    this.#child.stderr!.on(
      'data',
      (bytes: Buffer) => (this.#said = `${this.#said}${bytes}`.slice(-2000)),
    )
    this.#lines = streamLines(this.#child.stdout!)[Symbol.asyncIterator]()
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => resolve())
      this.#child.once('error', () => resolve())
    })
  }

  /** Sends an order that may end in a kill. `onAcknowledged` is called for each acknowledged item. */
  begin(order: Order, onAcknowledged: (deed: Deed) => void = () => undefined): Promise<Served> {
    const served = this.#last.then(() => this.#serve(order, onAcknowledged))
    this.#last = served.catch(() => undefined)
    return served
  }

  /** Sends an order. A failure is a result; a lost process is an error of the trial itself. */
  async serve(order: Order): Promise<End & Pick<Served, 'did'>> {
    const { did, end } = await this.begin(order)
    if (end !== undefined) return { ...end, did }
    // Its error output is complete only then.
    await this.#ended
    throw new Error(
      `a trial could not be made: ${order.do}: ${this.#said || 'the process is gone'}`,
    )
  }

  /** Sends a setup order, which must succeed. */
  async complete(order: Order): Promise<void> {
    const { failed } = await this.serve(order)
    if (failed !== undefined) throw new Error(`a trial could not be made: ${order.do}: ${failed}`)
  }

  /** SIGKILL. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async gone(): Promise<void> {
    this.kill()
    await this.#ended
  }

  async #serve(order: Order, onAcknowledged: (deed: Deed) => void): Promise<Served> {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`)
    const did: Deed[] = []
    for (;;) {
      const { value, done } = await this.#lines.next()
      const answer = done === true ? undefined : wholeAnswer(value)
      if (answer === undefined) return { did }
      if ('end' in answer) return { did, end: answer }
      did.push(answer.did)
      onAcknowledged(answer.did)
    }
  }
}

/** A line truncated by a kill acknowledges nothing. */
function wholeAnswer(line: string): Answer | undefined {
  try {
    return JSON.parse(line) as Answer
  } catch {
    return undefined
  }
}
