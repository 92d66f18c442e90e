import { randomUUID } from 'node:crypto'
import { cleanText, shorten } from '../../../text/clean.ts'
import type {
  Conversation,
  HarnessEvent,
  OpenConversation,
  ProcessMark,
  TurnEnded,
} from '../../contract/drive.ts'
import { type Json, nameOf, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'
import type { GuardedProcess } from '../../process/spawn-guarded.ts'
import { defined } from '../../../text/defined.ts'
import { Translator, answerTo, denied } from './translator.ts'

/** A prompt that is still queued is not interrupted with the turn before it, so ask again. */
const ASK_AGAIN_MS = 500
const ASK_TIMES = 20
/** Its own hooks run meanwhile. */
const LEAVE_MS = 3000
const LONGEST_FAILURE = 2000
const GREETING = 'greeting'

/** After these errors Claude Code answers no further prompt. */
const DEAF = /only prompt commands are supported in streaming mode|No conversation found/

interface Turn {
  readonly ended: Promise<void>
  readonly end: () => void
  isOver: boolean
  isInterrupted: boolean
}

export class ClaudeConversation implements Conversation {
  readonly process: ProcessMark
  readonly #program: GuardedProcess
  readonly #options: OpenConversation
  readonly #translator: Translator
  /** Events between two turns belong to the next one. */
  readonly #events: HarnessEvent[] = []
  #wake: () => void = () => undefined
  #turn: Turn | undefined
  readonly #withdrawn = new Set<string>()
  #fault: string | undefined
  #isGone = false
  #closing: Promise<void> | undefined

  constructor(program: GuardedProcess, options: OpenConversation) {
    this.process = program.mark
    this.#program = program
    this.#options = options
    this.#translator = new Translator({
      isResumed: options.resume !== undefined,
      now: () => new Date(),
      deltas: options.deltas === true,
    })
    this.#send(greeting(GREETING, options))
    void this.#listen()
  }

  get id(): string | undefined {
    return this.#translator.conversation ?? this.#options.resume
  }

  async *prompt(text: string): AsyncGenerator<HarnessEvent, void, undefined> {
    if (this.#turn !== undefined) throw new Error('a turn is running in this conversation')
    const turn = startTurn()
    this.#turn = turn
    const uuid = randomUUID()
    this.#translator.begin(uuid)
    if (this.#isGone) this.#endTurn(this.#death())
    else this.#send({ type: 'user', uuid, message: { role: 'user', content: text.toWellFormed() } })
    try {
      for (;;) {
        const event = this.#events.shift()
        if (event === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
        else yield event
        if (event?.type === 'turn ended') return
      }
    } finally {
      // When the consumer stops early, the next prompt must not find this turn or its end.
      await this.interrupt()
      this.#events.splice(0, this.#events.findIndex(({ type }) => type === 'turn ended') + 1)
      this.#turn = undefined
    }
  }

  async interrupt(): Promise<void> {
    const turn = this.#turn
    if (turn === undefined || this.#isGone) return
    for (let asked = 0; asked < ASK_TIMES && !turn.isOver; asked += 1) {
      turn.isInterrupted = true
      this.#send({
        type: 'control_request',
        request_id: randomUUID(),
        request: { subtype: 'interrupt' },
      })
      await Promise.race([turn.ended, pause(ASK_AGAIN_MS)])
    }
    if (!turn.isOver) await this.#program.end()
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave()
    return this.#closing
  }

  async #leave(): Promise<void> {
    this.#program.stdin.end()
    // In the middle of a turn it would first finish that.
    if (this.#turn === undefined) await Promise.race([this.#program.exited, pause(LEAVE_MS)])
    await this.#program.end()
  }

  async #listen(): Promise<void> {
    for await (const line of this.#program.lines) {
      this.#options.trace?.('from', line)
      const message = objectOf(parseJson(line))
      if (message !== undefined) this.#hear(message)
    }
    await this.#program.exited
    this.#isGone = true
    this.#endTurn(
      this.#turn?.isInterrupted === true
        ? { type: 'turn ended', how: 'interrupted' }
        : this.#death(),
    )
  }

  #hear(message: Json): void {
    if (this.#fault !== undefined) return
    if (message.type === 'control_request') return void this.#answer(message)
    if (message.type === 'control_cancel_request')
      return void this.#withdrawn.add(nameOf(message.request_id) ?? '')
    if (message.type === 'control_response')
      return this.#hearAnswer(objectOf(message.response) ?? {})
    for (const event of this.#translator.read(message)) {
      if (event.type !== 'turn ended') this.#tell(event)
      else if (DEAF.test(event.failure ?? '')) this.#giveUp(event.failure!)
      else this.#endTurn(event)
    }
  }

  #hearAnswer(response: Json): void {
    if (response.request_id !== GREETING || response.subtype !== 'error') return
    this.#giveUp(
      `it does not take standing instructions: ${textOf(response.error) ?? 'no reason given'}`,
    )
  }

  #giveUp(fault: string): void {
    this.#fault = fault
    void this.#program.end()
  }

  async #answer(message: Json): Promise<void> {
    const id = nameOf(message.request_id) ?? ''
    const request = objectOf(message.request) ?? {}
    if (request.subtype !== 'can_use_tool') {
      const error = `${textOf(request.subtype) ?? 'this'} is not supported`
      return this.#send({
        type: 'control_response',
        response: { subtype: 'error', request_id: id, error },
      })
    }
    // If asking fails, it is not allowed.
    const response = await answerTo(request, this.#options).catch((error) =>
      denied(`Asking failed: ${String(error)}`),
    )
    if (this.#withdrawn.delete(id)) return
    this.#send({
      type: 'control_response',
      response: { subtype: 'success', request_id: id, response },
    })
  }

  #tell(event: HarnessEvent): void {
    this.#events.push(event)
    this.#wake()
  }

  #endTurn(event: TurnEnded): void {
    const turn = this.#turn
    if (turn === undefined || turn.isOver) return
    turn.isOver = true
    this.#tell(event)
    turn.end()
  }

  #death(): TurnEnded {
    const closed = this.#closing === undefined ? undefined : 'the conversation was closed'
    return {
      type: 'turn ended',
      how: 'died',
      failure: this.#fault ?? closed ?? lastWords(this.#program.stderrTail()),
    }
  }

  #send(message: object): void {
    if (this.#isGone || this.#program.stdin.writableEnded) return
    // Some readers take Unicode line separators for line ends.
    const line = JSON.stringify(message)
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029')
    this.#options.trace?.('to', line)
    this.#program.stdin.write(`${line}\n`)
  }
}

function startTurn(): Turn {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { ended, end, isOver: false, isInterrupted: false }
}

function lastWords(stderr: string): string {
  const tail = cleanText(stderr)
  return tail === ''
    ? 'Claude Code ended in the middle of the turn'
    : shorten(tail.slice(-LONGEST_FAILURE), LONGEST_FAILURE)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

function greeting(requestId: string, { systemPrompt }: OpenConversation): object {
  const request = {
    subtype: 'initialize',
    hooks: null,
    ...defined({ appendSystemPrompt: systemPrompt?.toWellFormed() }),
  }
  return { type: 'control_request', request_id: requestId, request }
}
