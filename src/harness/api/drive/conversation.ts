import { StintError } from '../../../journal/errors.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import type {
  Conversation,
  HarnessEvent,
  OpenConversation,
  ProcessMark,
  TurnEnded,
} from '../../contract/drive.ts'
import { EventQueue } from '../../contract/event-queue.ts'
import type { ApiHistory } from './api-history.ts'
import { withoutKey } from './key-out.ts'
import type { ApiSettings } from '../../contract/drive.ts'
import { takeTurn } from './take-turn.ts'
import type { ToolProgram } from './tools/tool-program.ts'
import type { Room } from './window.ts'
import { defined } from '../../../text/defined.ts'

const CLOSE_PATIENCE_MS = 2000

export interface ConversationParts {
  readonly id: string
  readonly settings: ApiSettings
  readonly model: string
  readonly room: Room
  readonly key: string | undefined
  readonly waits?: readonly number[]
  readonly history: ApiHistory
  readonly program: ToolProgram
  readonly options: OpenConversation
  readonly begin: () => void
}

interface Turn {
  readonly stopping: AbortController
  ended: Promise<void>
}

export class ApiConversation implements Conversation {
  readonly id: string
  readonly process: ProcessMark
  readonly #parts: ConversationParts
  #turn: Turn | undefined
  #isStarted = false
  #isGone = false
  #closing: Promise<void> | undefined

  constructor(parts: ConversationParts) {
    this.id = parts.id
    this.process = parts.program.process.mark
    this.#parts = parts
    void parts.program.process.exited.then(() => {
      this.#isGone = true
      this.#turn?.stopping.abort()
    })
  }

  prompt(text: string): AsyncIterable<HarnessEvent> {
    if (this.#turn !== undefined) throw new Error('another turn of this conversation is running')
    const events = new EventQueue()
    const turn: Turn = { stopping: new AbortController(), ended: Promise.resolve() }
    this.#turn = turn
    turn.ended = this.#take(text, turn, events)
    return events
  }

  async #take(text: string, turn: Turn, events: EventQueue): Promise<void> {
    const end = await this.#answer(text, turn, events).catch((error: unknown): TurnEnded => ({
      type: 'turn ended',
      how: 'failed',
      failure: shorten(
        oneLine(
          withoutKey(error instanceof Error ? error.message : String(error), this.#parts.key),
        ),
        2000,
      ),
    }))
    this.#turn = undefined
    events.push(this.#isGone ? { ...end, how: 'died', failure: await this.#death() } : end)
  }

  async #answer(text: string, { stopping }: Turn, events: EventQueue): Promise<TurnEnded> {
    if (this.#isGone || this.#closing !== undefined)
      return { type: 'turn ended', how: 'died', failure: await this.#death() }
    const { model, room, begin } = this.#parts
    if (!this.#isStarted) {
      begin()
      events.push({
        type: 'started',
        conversation: this.id,
        model,
        ...defined({ window: room.window }),
      })
    }
    this.#isStarted = true
    return takeTurn(text, {
      ...this.#parts,
      tell: (event) => events.push(event),
      signal: stopping.signal,
    })
  }

  async interrupt(): Promise<void> {
    const turn = this.#turn
    turn?.stopping.abort()
    await turn?.ended
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const turn = this.#turn
    const { process } = this.#parts.program
    turn?.stopping.abort()
    process.stdin.end()
    await process.end(CLOSE_PATIENCE_MS)
    await turn?.ended
    if (this.#isStarted) this.#sayEnd()
  }

  #sayEnd(): void {
    try {
      this.#parts.history.end('closed')
    } catch (error) {
      // A full disk must not keep the process from ending.
      if (!(error instanceof StintError)) throw error
    }
  }

  async #death(): Promise<string> {
    if (this.#closing !== undefined) return 'the conversation was closed'
    const { process } = this.#parts.program
    const { code, signal } = await process.exited
    const how =
      signal === null
        ? `the program of the tools exited with ${code}`
        : `the program of the tools was ended by ${signal}`
    const last = process.stderrTail().trim().split('\n').slice(-5).join('\n')
    return shorten(oneLine(last === '' ? how : `${how}: ${last}`), 1000)
  }
}
