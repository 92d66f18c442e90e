import { type ChildProcess, spawn } from 'node:child_process'
import { linesOf } from '../../harness/process/lines.ts'
import type { Answer, Deed, End, Order } from './worker/orders.ts'

/** What came of an order. One that ended in a kill has no end. */
export interface Served extends Partial<End> {
  readonly did: readonly Deed[]
}

/** One process of a trial. */
export class Worker {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #ended: Promise<void>
  #last: Promise<unknown> = Promise.resolve()
  #said = ''

  constructor(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv) {
    const [program, ...args] = command
    this.#child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    // What is written to one that was killed is lost, as it should be.
    this.#child.stdin!.on('error', () => undefined)
    this.#child.stderr!.on('data', (bytes: Buffer) => (this.#said = `${this.#said}${bytes}`.slice(-2000)))
    this.#lines = linesOf(this.#child.stdout!)[Symbol.asyncIterator]()
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => resolve())
      this.#child.once('error', () => resolve())
    })
  }

  /** Gives an order when those before it are served. `heard` is told of each thing that is acknowledged, as it comes. */
  serve(order: Order, heard: (deed: Deed) => void = () => undefined): Promise<Served> {
    const served = this.#last.then(() => this.#serve(order, heard))
    this.#last = served.catch(() => undefined)
    return served
  }

  /** The same, of an order that has to come to its end. */
  async complete(order: Order): Promise<Served> {
    const served = await this.serve(order)
    // Only then it has said why.
    if (served.end !== true) await this.#ended
    if (served.end !== true || served.failed !== undefined)
      throw new Error(`a trial could not be made: ${order.do}: ${served.failed ?? (this.#said || 'the process is gone')}`)
    return served
  }

  /** Ends it as nothing else does, at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async gone(): Promise<void> {
    this.kill()
    await this.#ended
  }

  async #serve(order: Order, heard: (deed: Deed) => void): Promise<Served> {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`)
    const did: Deed[] = []
    for (;;) {
      const { value, done } = await this.#lines.next()
      const answer = done === true ? undefined : wholeAnswer(value)
      if (answer === undefined) return { did }
      if ('end' in answer) return { ...answer, did }
      did.push(answer.did)
      heard(answer.did)
    }
  }
}

/** A line that a kill cut off acknowledges nothing. */
function wholeAnswer(line: string): Answer | undefined {
  try {
    return JSON.parse(line) as Answer
  } catch {
    return undefined
  }
}
