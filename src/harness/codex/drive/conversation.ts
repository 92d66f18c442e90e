import { cleanText, shorten } from '../../../text/clean.ts'
import type {
  Conversation,
  HarnessEvent,
  OpenConversation,
  PermissionRequest,
  Permissions,
  ProcessMark,
} from '../../contract/drive.ts'
import { type Json, nameOf, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'
import { isPermitted } from '../../contract/permission-rules.ts'
import type { Exit, GuardedProcess } from '../../process/spawn-guarded.ts'
import { questionOf } from './items.ts'
import {
  type Standing,
  type Translated,
  endTurn,
  standingOf,
  translate,
  withTurn,
} from './translate.ts'
import { defined } from '../../../text/defined.ts'
import { StintError } from '../../../journal/errors.ts'

const INTERRUPT_GRACE_MS = 10_000
const CLOSE_GRACE_MS = 2000

export interface BegunThread {
  readonly thread: string
  readonly model: string | undefined
  readonly compactsAt: number | undefined
}

interface Turn {
  readonly id: Promise<string | undefined>
  readonly ended: Promise<void>
  readonly end: () => void
}

export class CodexConversation implements Conversation {
  readonly #process: GuardedProcess
  readonly #server: AppServer
  readonly #options: OpenConversation
  readonly #events: HarnessEvent[] = []
  readonly #early: [method: string, params: Json][] = []
  #wake: (() => void) | undefined
  #standing: Standing = standingOf('')
  #turn: Turn | undefined
  #interrupting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #exit: Exit | undefined

  constructor(process: GuardedProcess, options: OpenConversation) {
    this.#process = process
    this.#options = options
    this.#server = new AppServer(process, {
      notified: (method, params) => this.#notified(method, params),
      asked: (method, params) => this.#answer(method, params),
      ...defined({ trace: options.trace }),
    })
    void this.#watch()
  }

  get id(): string | undefined {
    return this.#standing.thread === '' ? undefined : this.#standing.thread
  }

  get process(): ProcessMark {
    return this.#process.mark
  }

  get server(): AppServer {
    return this.#server
  }

  begin({ thread, model, compactsAt }: BegunThread): void {
    this.#standing = standingOf(thread, model, compactsAt)
    this.#push({ type: 'started', conversation: thread, ...defined({ model }) })
    for (const [method, params] of this.#early.splice(0)) this.#notified(method, params)
  }

  // The usage of a resumed thread may arrive before the answer that names it.
  #notified(method: string, params: Json): void {
    if (this.id === undefined) this.#early.push([method, params])
    else if (method !== 'item/agentMessage/delta' || this.#options.deltas === true)
      this.#take(translate(this.#standing, method, params))
  }

  async *prompt(text: string): AsyncGenerator<HarnessEvent> {
    if (this.#turn !== undefined) throw new Error('a turn is still running')
    await this.#interrupting
    this.#beginTurn(text)
    let isOver = false
    try {
      while (!isOver) {
        const event = await this.#next()
        isOver = event.type === 'turn ended'
        yield event
      }
    } finally {
      if (!isOver) await this.#abandon()
    }
  }

  /** The cost of an abandoned turn is reported with the next one. */
  async #abandon(): Promise<void> {
    await this.interrupt()
    const left = this.#events.splice(0)
    this.#events.push(...left.filter(({ type }) => type === 'usage' || type === 'compaction'))
  }

  interrupt(): Promise<void> {
    if (this.#turn === undefined) return this.#interrupting ?? Promise.resolve()
    this.#interrupting ??= this.#breakOff(this.#turn).finally(
      () => (this.#interrupting = undefined),
    )
    return this.#interrupting
  }

  close(): Promise<void> {
    this.#closing ??= this.#endProcess()
    return this.#closing
  }

  #beginTurn(text: string): void {
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    this.#standing = withTurn(this.#standing)
    this.#turn = { id: this.#startTurn(text), ended, end }
  }

  async #startTurn(text: string): Promise<string | undefined> {
    // Deferred, so that the turn is known before it can end.
    await undefined
    if (this.#exit !== undefined) return this.#die(this.#exit)
    try {
      const { turn } = await this.#server.request('turn/start', {
        threadId: this.#standing.thread,
        input: [{ type: 'text', text, text_elements: [] }],
        ...turnParams(this.#options.permissions),
      })
      return nameOf(objectOf(turn)?.id)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // `#watch` reports the end of a server that is gone.
      if (!this.#server.isGone && this.#standing.isRunning)
        this.#take(endTurn(this.#standing, 'failed', cleanText(reason)))
      return undefined
    }
  }

  async #breakOff(turn: Turn): Promise<void> {
    const patience = AbortSignal.timeout(INTERRUPT_GRACE_MS)
    // A turn that was only just accepted cannot be interrupted yet, so repeat.
    while (this.#turn === turn && !patience.aborted) {
      const id = await Promise.race([turn.id, pause(1000)])
      if (typeof id === 'string') await this.#askAside('turn/interrupt', { turnId: id })
      await Promise.race([turn.ended, pause(200)])
    }
    if (this.#turn === turn) await this.#process.end()
    // Otherwise commands that the turn left running continue.
    else await this.#askAside('thread/backgroundTerminals/clean', {})
  }

  /** A refusal does no harm: the turn may just have ended, or the server is old. */
  async #askAside(method: string, params: Json): Promise<void> {
    await this.#server
      .request(method, { threadId: this.#standing.thread, ...params })
      .catch(() => undefined)
  }

  async #endProcess(): Promise<void> {
    this.#process.stdin.end()
    await Promise.race([this.#process.exited, pause(CLOSE_GRACE_MS)])
    await this.#process.end()
  }

  async #watch(): Promise<void> {
    await this.#server.gone
    this.#exit = await this.#process.exited
    if (this.#turn !== undefined) this.#die(this.#exit)
  }

  #die(exit: Exit): undefined {
    if (this.#standing.isRunning) this.#take(endTurn(this.#standing, 'died', this.#lastWords(exit)))
  }

  #lastWords({ code, signal }: Exit): string {
    if (this.#closing !== undefined) return 'the conversation was closed'
    const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`
    const said = cleanText(this.#process.stderrTail())
    return shorten(
      [`Codex ended ${how}`, said.slice(-1000)].filter((part) => part !== '').join(': '),
      1200,
    )
  }

  async #answer(method: string, params: Json): Promise<Json | undefined> {
    const changed = this.#standing.tools[nameOf(params.itemId) ?? '']?.paths ?? []
    const question = questionOf(method, params, changed)
    if (question === undefined) return undefined
    return question.answer(await this.#areAllowed(question.requests))
  }

  async #areAllowed(requests: readonly PermissionRequest[]): Promise<boolean> {
    try {
      for (const request of requests) if (!(await isPermitted(request, this.#options))) return false
      return true
    } catch {
      // Asking failed; Codex still waits for an answer.
      return false
    }
  }

  #take({ standing, events }: Translated): void {
    this.#standing = standing
    this.#push(...events)
    if (events.some(({ type }) => type === 'turn ended')) {
      this.#turn?.end()
      this.#turn = undefined
    }
  }

  #push(...events: readonly HarnessEvent[]): void {
    this.#events.push(...events)
    this.#wake?.()
  }

  async #next(): Promise<HarnessEvent> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) return event
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

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
    const method = textOf(message.method)
    const params = objectOf(message.params) ?? {}
    if (method === undefined) this.#takeAnswer(message)
    else if (message.id === undefined) this.#listener.notified(method, params)
    else void this.#answer(message.id, method, params)
  }

  #takeAnswer(message: Json): void {
    const waiting = this.#waiting.get(message.id as number)
    this.#waiting.delete(message.id as number)
    const error = objectOf(message.error)
    if (error === undefined) waiting?.resolve(objectOf(message.result) ?? {})
    else
      waiting?.reject(
        new AppServerRefused(waiting.method, textOf(error.message) ?? 'it did not say why'),
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

/**
 * Codex's sandbox blocks writes to `.git`, repeats failed commands outside, and needs namespaces
 * that many containers lack; so every command is asked for instead, except under `all`.
 */
function turnParams(permissions: Permissions): Json {
  return {
    approvalPolicy: permissions === 'all' ? 'never' : 'untrusted',
    sandboxPolicy: { type: 'dangerFullAccess' },
  }
}
