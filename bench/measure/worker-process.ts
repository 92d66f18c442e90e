import { type ChildProcess, spawn } from 'node:child_process'
import { streamLines } from '../../src/harness/process/spawn-guarded.ts'
import type { Answer, Deed, End, Order } from './orders.ts'

/** What came of an order: what was acknowledged, and its end unless it was killed before. */
export interface Served {
  readonly did: readonly Deed[]
  readonly end?: End
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
    // Apart from us, so that Ctrl-C reaches us alone, who have to end it in order.
    this.#child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    // What is written to one that was killed is lost, as it should be.
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

  /**
   * Gives an order that may end in a kill, when those before it are served. `heard` is told of each thing that is acknowledged, as it comes.
   */
  begin(order: Order, heard: (deed: Deed) => void = () => undefined): Promise<Served> {
    const served = this.#last.then(() => this.#serve(order, heard))
    this.#last = served.catch(() => undefined)
    return served
  }

  /** Gives an order. That it fails is an answer; that the process is gone is none, and says nothing of what is under trial. */
  async serve(order: Order): Promise<End & Pick<Served, 'did'>> {
    const { did, end } = await this.begin(order)
    if (end !== undefined) return { ...end, did }
    // Only then it has said why.
    await this.#ended
    throw new Error(
      `a trial could not be made: ${order.do}: ${this.#said || 'the process is gone'}`,
    )
  }

  /** Gives an order that is a part of the arrangement, and has to be done. */
  async complete(order: Order): Promise<void> {
    const { failed } = await this.serve(order)
    if (failed !== undefined) throw new Error(`a trial could not be made: ${order.do}: ${failed}`)
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
      if ('end' in answer) return { did, end: answer }
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
