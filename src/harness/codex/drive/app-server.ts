import { StintError } from '../../../journal/errors.ts'
import { type Json, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'
import type { GuardedProcess } from '../../process/spawn-guarded.ts'

export interface Listener {
  notified(method: string, params: Json): void
  asked(method: string, params: Json): Promise<Json | undefined>
  trace?(direction: 'to' | 'from', line: string): void
}

export class AppServerRefused extends StintError {
  override readonly name = 'AppServerRefused'
  constructor(
    readonly method: string,
    reason: string,
  ) {
    super('HARNESS_REFUSED', `Codex refused ${method}: ${reason}`)
  }
}

export class AppServer {
  readonly #process: GuardedProcess
  readonly #listener: Listener
  readonly #waiting = new Map<
    number,
    { method: string; resolve: (result: Json) => void; reject: (error: Error) => void }
  >()
  #count = 0
  #isGone = false
  readonly gone: Promise<void>

  constructor(process: GuardedProcess, listener: Listener) {
    this.#process = process
    this.#listener = listener
    this.gone = this.#listen()
  }

  get isGone(): boolean {
    return this.#isGone
  }

  request(method: string, params: Json): Promise<Json> {
    if (this.#isGone) return Promise.reject(new AppServerRefused(method, 'it is not running'))
    this.#count += 1
    const id = this.#count
    const answer = new Promise<Json>((resolve, reject) =>
      this.#waiting.set(id, { method, resolve, reject }),
    )
    this.#send({ id, method, params })
    return answer
  }

  notify(method: string): void {
    this.#send({ method })
  }

  async #listen(): Promise<void> {
    for await (const line of this.#process.lines) {
      this.#listener.trace?.('from', line)
      this.#take(objectOf(parseJson(line)) ?? {})
    }
    await this.#process.exited
    this.#isGone = true
    for (const { method, reject } of this.#waiting.values())
      reject(new AppServerRefused(method, 'it ended'))
    this.#waiting.clear()
  }

  #take(message: Json): void {
    const method = textOf(message['method'])
    const params = objectOf(message['params']) ?? {}
    if (method === undefined) this.#takeAnswer(message)
    else if (message['id'] === undefined) this.#listener.notified(method, params)
    else void this.#answer(message['id'], method, params)
  }

  #takeAnswer(message: Json): void {
    const waiting = this.#waiting.get(message['id'] as number)
    this.#waiting.delete(message['id'] as number)
    const error = objectOf(message['error'])
    if (error === undefined) waiting?.resolve(objectOf(message['result']) ?? {})
    else
      waiting?.reject(
        new AppServerRefused(waiting.method, textOf(error['message']) ?? 'it did not say why'),
      )
  }

  async #answer(id: unknown, method: string, params: Json): Promise<void> {
    const result = await this.#listener.asked(method, params)
    this.#send(
      result === undefined
        ? { id, error: { code: -32_601, message: `unknown method ${method}` } }
        : { id, result },
    )
  }

  #send(message: Json): void {
    const line = JSON.stringify(message)
    this.#listener.trace?.('to', line)
    this.#process.stdin.write(`${line}\n`)
  }
}
