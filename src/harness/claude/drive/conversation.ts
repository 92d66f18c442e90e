import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { cleanText, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asName, asObject, parseJson, asText } from '../../../text/json-fields.ts'
import {
  type Conversation,
  type HarnessEvent,
  type ConversationOptions,
  type ProcessTag,
  TurnStream,
  type TurnEnded,
} from '../../contract/drive.ts'
import type { GuardedProcess } from '../../process/spawn-guarded.ts'
import { ClaudeStreamTranslator, respondToToolRequest, denialResponse } from './translator.ts'

/** A prompt that is still queued is not interrupted with the turn before it, so ask again. */
const INTERRUPT_RETRY_MS = 500
const MAX_INTERRUPTS = 20
/** Its own hooks run at the end. */
const EXIT_GRACE_MS = 3000
const MAX_FAILURE_LENGTH = 2000
const INITIALIZE = 'greeting'

/** After these errors Claude Code answers no more prompts. */
const UNRESPONSIVE = /only prompt commands are supported in streaming mode|No conversation found/

export class ClaudeConversation implements Conversation {
  readonly process: ProcessTag
  readonly #program: GuardedProcess
  readonly #options: ConversationOptions
  readonly #translator: ClaudeStreamTranslator
  /** Events between two turns belong to the next one. */
  readonly #between: HarnessEvent[] = []
  #turn: TurnStream | undefined
  /** Requests that Claude Code has cancelled. */
  readonly #cancelled = new Set<string>()
  /** Why we ended it ourselves. */
  #fault: string | undefined
  #isGone = false
  #closing: Promise<void> | undefined

  constructor(program: GuardedProcess, options: ConversationOptions) {
    this.process = program.tag
    this.#program = program
    this.#options = options
    this.#translator = new ClaudeStreamTranslator({
      isResumed: options.resume !== undefined,
      now: () => new Date(),
      deltas: options.deltas === true,
    })
    const appendSystemPrompt = options.systemPrompt?.toWellFormed()
    this.#request(INITIALIZE, {
      subtype: 'initialize',
      hooks: null,
      ...defined({ appendSystemPrompt }),
    })
    void this.#listen()
  }

  get id(): string | undefined {
    return this.#translator.conversation ?? this.#options.resume
  }

  async *prompt(text: string): AsyncGenerator<HarnessEvent, void, undefined> {
    if (this.#turn !== undefined) throw new Error('a turn is running in this conversation')
    const turn = new TurnStream(this.#between.splice(0))
    this.#turn = turn
    const uuid = randomUUID()
    this.#translator.begin(uuid)
    if (this.#isGone) turn.push(this.#diedEvent())
    else this.#send({ type: 'user', uuid, message: { role: 'user', content: text.toWellFormed() } })
    try {
      yield* turn
    } finally {
      // When the consumer stops early, the next prompt must not find this turn.
      await this.interrupt()
      this.#turn = undefined
    }
  }

  async interrupt(): Promise<void> {
    const turn = this.#turn
    if (turn === undefined || this.#isGone) return
    for (let attempts = 0; attempts < MAX_INTERRUPTS && !turn.isOver; attempts += 1) {
      turn.stopping.abort()
      this.#request(randomUUID(), { subtype: 'interrupt' })
      await Promise.race([turn.ended, pause(INTERRUPT_RETRY_MS, undefined, { ref: false })])
    }
    if (!turn.isOver) await this.#program.end()
  }

  close(): Promise<void> {
    this.#closing ??= this.#endProgram()
    return this.#closing
  }

  async #endProgram() {
    this.#program.stdin.end()
    // In the middle of a turn it would first finish the turn.
    if (this.#turn === undefined)
      await Promise.race([this.#program.exited, pause(EXIT_GRACE_MS, undefined, { ref: false })])
    await this.#program.end()
  }

  async #listen(): Promise<void> {
    for await (const line of this.#program.lines) {
      this.#options.trace?.('from', line)
      const message = asObject(parseJson(line))
      if (message !== undefined && this.#fault === undefined) this.#handleMessage(message)
    }
    await this.#program.exited
    this.#isGone = true
    this.#turn?.push(
      this.#turn.isInterrupted ? { type: 'turn ended', how: 'interrupted' } : this.#diedEvent(),
    )
  }

  #handleMessage(message: Json): void {
    switch (message.type) {
      case 'control_request':
        return void this.#handleRequest(message)
      case 'control_cancel_request':
        return void this.#cancelled.add(asName(message.request_id) ?? '')
      case 'control_response': {
        // Without the system prompt the agent would follow no rules.
        const { request_id: id, subtype, error } = asObject(message.response) ?? {}
        if (id === INITIALIZE && subtype === 'error')
          this.#abandon(
            `it does not take standing instructions: ${asText(error) ?? 'no reason given'}`,
          )
        return
      }
    }
    for (const event of this.#translator.read(message)) {
      if (event.type !== 'turn ended') this.#emit(event)
      else if (UNRESPONSIVE.test(event.failure ?? '')) this.#abandon(event.failure!)
      else this.#turn?.push(event)
    }
  }

  #emit(event: HarnessEvent) {
    if (this.#turn?.isOver === false) this.#turn.push(event)
    else this.#between.push(event)
  }

  #abandon(fault: string) {
    this.#fault = fault
    void this.#program.end()
  }

  async #handleRequest(message: Json) {
    const id = asName(message.request_id) ?? ''
    const request = asObject(message.request) ?? {}
    if (request.subtype !== 'can_use_tool') {
      const error = `${asText(request.subtype) ?? 'this'} is not supported`
      return this.#respond({ subtype: 'error', request_id: id, error })
    }
    // A failing decision counts as a denial.
    const response = await respondToToolRequest(request, this.#options).catch((error) =>
      denialResponse(`Asking failed: ${String(error)}`),
    )
    if (!this.#cancelled.delete(id)) this.#respond({ subtype: 'success', request_id: id, response })
  }

  #diedEvent(): TurnEnded {
    const closed = this.#closing === undefined ? undefined : 'the conversation was closed'
    const tail = cleanText(this.#program.stderrTail())
    const lastOutput =
      tail === ''
        ? 'Claude Code ended in the middle of the turn'
        : shorten(tail.slice(-MAX_FAILURE_LENGTH), MAX_FAILURE_LENGTH)
    return { type: 'turn ended', how: 'died', failure: this.#fault ?? closed ?? lastOutput }
  }

  #request(id: string, request: object) {
    this.#send({ type: 'control_request', request_id: id, request })
  }

  #respond(response: object) {
    this.#send({ type: 'control_response', response })
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
