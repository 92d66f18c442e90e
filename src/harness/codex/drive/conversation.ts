import { setTimeout as pause } from 'node:timers/promises'
import { StintError } from '../../../journal/errors.ts'
import { cleanText, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asName, asObject, parseJson, asText } from '../../../text/json-fields.ts'
import {
  type Conversation,
  type HarnessEvent,
  type ConversationOptions,
  type ProcessTag,
  TurnStream,
} from '../../contract/drive.ts'
import { isPermitted } from '../../contract/permission-rules.ts'
import type { ProcessExit, GuardedProcess } from '../../process/spawn-guarded.ts'
import { ThreadTranslator, parseApprovalRequest } from './translator.ts'

const INTERRUPT_GRACE_MS = 10_000
const CLOSE_GRACE_MS = 2000

/** A thread of one `codex app-server`, which serves all its turns. */
export class CodexConversation implements Conversation {
  readonly process: ProcessTag
  readonly server: AppServer
  readonly #process: GuardedProcess
  readonly #options: ConversationOptions
  /** Events between two turns belong to the next one. */
  readonly #betweenTurns: HarnessEvent[] = []
  readonly #earlyMessages: [method: string, params: Json][] = []
  #thread: ThreadTranslator | undefined
  #turn: TurnStream | undefined
  /** Codex's id of the turn, undefined if it was not started. */
  #turnId: Promise<string | undefined> = Promise.resolve(undefined)
  #interrupting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #exit: ProcessExit | undefined

  constructor(process: GuardedProcess, options: ConversationOptions) {
    this.process = process.tag
    this.#process = process
    this.#options = options
    this.server = new AppServer(process, {
      onNotification: (method, params) => this.#handleNotification(method, params),
      onRequest: (method, params) => this.#respond(method, params),
      ...defined({ trace: options.trace }),
    })
    void this.#watch()
  }

  get id(): string | undefined {
    return this.#thread?.thread
  }

  begin(thread: string, model: string | undefined, compactsAt: number | undefined): void {
    this.#thread = new ThreadTranslator(thread, model, compactsAt)
    this.#push({ type: 'started', conversation: thread, ...defined({ model }) })
    for (const [method, params] of this.#earlyMessages.splice(0))
      this.#handleNotification(method, params)
  }

  // The usage of a resumed thread may arrive before the response that names the thread.
  #handleNotification(method: string, params: Json) {
    if (this.#thread === undefined) this.#earlyMessages.push([method, params])
    else if (method !== 'item/agentMessage/delta' || this.#options.deltas === true)
      this.#push(...this.#thread.translate(method, params))
  }

  async *prompt(text: string): AsyncGenerator<HarnessEvent> {
    if (this.#turn !== undefined) throw new Error('a turn is still running')
    await this.#interrupting
    const turn = new TurnStream(this.#betweenTurns.splice(0))
    this.#thread?.beginTurn()
    this.#turn = turn
    this.#turnId = this.#startTurn(text)
    try {
      yield* turn
    } finally {
      await this.interrupt()
      // The cost of an abandoned turn is reported with the next one.
      const left = turn.drain()
      this.#betweenTurns.unshift(
        ...left.filter(({ type }) => type === 'usage' || type === 'compaction'),
      )
    }
  }

  interrupt(): Promise<void> {
    if (this.#turn === undefined) return this.#interrupting ?? Promise.resolve()
    this.#interrupting ??= this.#interruptTurn(this.#turn).finally(
      () => (this.#interrupting = undefined),
    )
    return this.#interrupting
  }

  close(): Promise<void> {
    this.#closing ??= this.#endProcess()
    return this.#closing
  }

  async #startTurn(text: string) {
    // Deferred, so that the turn is set before it can end.
    await undefined
    if (this.#exit !== undefined) return this.#endTurn('died', this.#exitReason(this.#exit))
    try {
      const { turn } = await this.server.request('turn/start', {
        threadId: this.id,
        input: [{ type: 'text', text, text_elements: [] }],
        // Codex's sandbox blocks writes to `.git`, repeats failed commands outside, and needs
        // namespaces that many containers lack; so we approve every command instead.
        approvalPolicy: this.#options.permissions === 'all' ? 'never' : 'untrusted',
        sandboxPolicy: { type: 'dangerFullAccess' },
      })
      return asName(asObject(turn)?.id)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // `#watch` ends the turn of a server that is gone.
      if (!this.server.isGone) this.#endTurn('failed', cleanText(reason))
      return undefined
    }
  }

  async #interruptTurn(turn: TurnStream) {
    const timeout = AbortSignal.timeout(INTERRUPT_GRACE_MS)
    // A turn that was only just accepted cannot be interrupted yet, so repeat.
    while (this.#turn === turn && !timeout.aborted) {
      const id = await Promise.race([this.#turnId, pause(1000, undefined, { ref: false })])
      if (typeof id === 'string') await this.#requestQuietly('turn/interrupt', { turnId: id })
      await Promise.race([turn.ended, pause(200, undefined, { ref: false })])
    }
    if (this.#turn === turn) await this.#process.end()
    // Otherwise commands that the turn started keep running.
    else await this.#requestQuietly('thread/backgroundTerminals/clean', {})
  }

  /** A failure does no harm: the turn may just have ended, or the server is old. */
  async #requestQuietly(method: string, params: Json) {
    await this.server.request(method, { threadId: this.id, ...params }).catch(() => undefined)
  }

  async #endProcess() {
    this.#process.stdin.end()
    await Promise.race([this.#process.exited, pause(CLOSE_GRACE_MS, undefined, { ref: false })])
    await this.#process.end()
  }

  async #watch() {
    await this.server.gone
    this.#exit = await this.#process.exited
    this.#endTurn('died', this.#exitReason(this.#exit))
  }

  #endTurn(how: 'failed' | 'died', failure: string): undefined {
    if (this.#thread?.isRunning === true) this.#push(...this.#thread.endTurn(how, failure))
  }

  #exitReason({ code, signal }: ProcessExit) {
    if (this.#closing !== undefined) return 'the conversation was closed'
    const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`
    const output = cleanText(this.#process.stderrTail()).slice(-1000)
    return shorten(`Codex ended ${how}${output === '' ? '' : `: ${output}`}`, 1200)
  }

  async #respond(method: string, params: Json) {
    const changed = this.#thread?.tools.get(asName(params.itemId) ?? '')?.paths ?? []
    const approval = parseApprovalRequest(method, params, changed)
    if (approval === undefined) return undefined
    let isAllowed = true
    for (const request of approval.requests) {
      // A failing decision counts as a refusal; Codex needs a response in any case.
      isAllowed &&= await isPermitted(request, this.#options).catch(() => false)
    }
    return approval.respond(isAllowed)
  }

  #push(...events: readonly HarnessEvent[]) {
    if (this.#turn === undefined) this.#betweenTurns.push(...events)
    else this.#turn.push(...events)
    if (this.#turn?.isOver === true) this.#turn = undefined
  }
}

interface ServerListener {
  onNotification(method: string, params: Json): void
  /** `undefined` for an unknown request. */
  onRequest(method: string, params: Json): Promise<Json | undefined>
  trace?(direction: 'to' | 'from', line: string): void
}

function refusedError(method: string, reason: string) {
  return new StintError('HARNESS_REFUSED', `Codex refused ${method}: ${reason}`)
}

/** A `codex app-server`: requests in both directions, one JSON object a line. */
class AppServer {
  isGone = false
  /** Resolves when it has sent its last line and no process is left. */
  readonly gone: Promise<void>
  readonly #process: GuardedProcess
  readonly #listener: ServerListener
  readonly #waiting = new Map<
    unknown,
    { method: string; resolve: (result: Json) => void; reject: (error: Error) => void }
  >()
  #count = 0

  constructor(process: GuardedProcess, listener: ServerListener) {
    this.#process = process
    this.#listener = listener
    this.gone = this.#listen()
  }

  request(method: string, params: Json): Promise<Json> {
    if (this.isGone) return Promise.reject(refusedError(method, 'it is not running'))
    const id = (this.#count += 1)
    const response = new Promise<Json>((resolve, reject) =>
      this.#waiting.set(id, { method, resolve, reject }),
    )
    this.#send({ id, method, params })
    return response
  }

  notify(method: string): void {
    this.#send({ method })
  }

  async #listen() {
    for await (const line of this.#process.lines) {
      this.#listener.trace?.('from', line)
      this.#handle(asObject(parseJson(line)) ?? {})
    }
    await this.#process.exited
    this.isGone = true
    for (const { method, reject } of this.#waiting.values())
      reject(refusedError(method, 'it ended'))
    this.#waiting.clear()
  }

  #handle(message: Json) {
    const method = asText(message.method)
    const params = asObject(message.params) ?? {}
    if (method === undefined) this.#handleResponse(message)
    else if (message.id === undefined) this.#listener.onNotification(method, params)
    else void this.#respond(message.id, method, params)
  }

  #handleResponse({ id, error, result }: Json) {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    const failure = asObject(error)
    if (failure === undefined) waiting?.resolve(asObject(result) ?? {})
    else
      waiting?.reject(refusedError(waiting.method, asText(failure.message) ?? 'it did not say why'))
  }

  async #respond(id: unknown, method: string, params: Json) {
    const result = await this.#listener.onRequest(method, params)
    const error = { code: -32_601, message: `unknown method ${method}` }
    this.#send(result === undefined ? { id, error } : { id, result })
  }

  #send(message: Json) {
    const line = JSON.stringify(message)
    this.#listener.trace?.('to', line)
    this.#process.stdin.write(`${line}\n`)
  }
}
