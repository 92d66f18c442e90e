import {
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  methods,
} from '@agentclientprotocol/sdk'
import type {
  Conversation,
  HarnessEvent,
  OpenConversation,
  ProcessMark,
  TurnEnded,
} from '../../contract/drive.ts'
import { EventQueue } from '../../contract/event-queue.ts'
import { type Json, objectOf } from '../../../text/json-fields.ts'
import { answer, isAllowed } from './permission.ts'
import { type StartedAgent, endOf, failureOf, limitBehind } from './start-agent.ts'
import { Updates, usageIn } from './updates.ts'
import { defined } from '../../../text/defined.ts'

const TURN_PATIENCE_MS = 5000
const CLOSE_PATIENCE_MS = 2000

interface Turn {
  readonly events: EventQueue
  readonly cancelled: Promise<void>
  cancel(): void
  isInterrupted: boolean
  isLimitTold: boolean
  ended: Promise<void>
}

export class Listener {
  readonly updates: Updates
  readonly #options: OpenConversation
  turn: Turn | undefined
  /** Agents may also report conversations of their own sub-agents. */
  id: string | undefined
  #between: HarnessEvent | undefined

  constructor(options: OpenConversation) {
    this.#options = options
    this.updates = new Updates(options)
  }

  readonly update = (params: Json): void => {
    if (this.id !== undefined && params['sessionId'] !== this.id) return
    const events = this.updates.read(objectOf(params['update']) ?? {})
    // Between turns agents send only history and usage.
    if (this.turn === undefined)
      this.#between = events.findLast((event) => event.type === 'usage') ?? this.#between
    else this.turn.events.push(...events)
    if (this.turn !== undefined && events.some((event) => event.type === 'limit'))
      this.turn.isLimitTold = true
  }

  readonly permission = async ({
    toolCall,
    options,
  }: RequestPermissionRequest): Promise<RequestPermissionResponse> => {
    const use = this.updates.tool(toolCall as unknown as Json)
    // Some agents describe the tool use only when they ask for permission.
    const { status: _, ...told } = toolCall
    this.update({ sessionId: this.id, update: { ...told, sessionUpdate: 'tool_call_update' } })
    const isYes = isAllowed(use, this.#options).catch(() => false)
    const isCancelled = this.turn?.cancelled.then(() => 'cancelled' as const)
    const decided = await (isCancelled === undefined ? isYes : Promise.race([isYes, isCancelled]))
    return decided === 'cancelled'
      ? { outcome: { outcome: 'cancelled' } }
      : answer(decided, options)
  }

  begin(turn: Turn): void {
    // Late updates of an earlier turn, or of loaded history, belong to no turn.
    this.updates.endTurn()
    this.updates.said = undefined
    this.turn = turn
    if (this.#between !== undefined) turn.events.push(this.#between)
    this.#between = undefined
  }
}

export class AcpConversation implements Conversation {
  readonly id: string
  readonly process: ProcessMark
  readonly #agent: StartedAgent
  readonly #listener: Listener
  readonly #model: string | undefined
  #isStarted = false
  #closing: Promise<void> | undefined

  constructor(id: string, agent: StartedAgent, listener: Listener, model: string | undefined) {
    this.id = id
    listener.id = id
    this.process = agent.process.mark
    this.#agent = agent
    this.#listener = listener
    this.#model = model
  }

  prompt(text: string): AsyncIterable<HarnessEvent> {
    if (this.#listener.turn !== undefined)
      throw new Error('another turn of this conversation is running')
    const turn = newTurn()
    if (!this.#isStarted)
      turn.events.push({
        type: 'started',
        conversation: this.id,
        ...defined({ model: this.#model }),
      })
    this.#isStarted = true
    this.#listener.begin(turn)
    turn.ended = this.#take(turn, text)
    return turn.events
  }

  async #take(turn: Turn, text: string): Promise<void> {
    const { updates } = this.#listener
    const end = await this.#ask(text).then(
      (response) => {
        const spent = usageIn(response as unknown as Json)
        turn.events.push(
          ...updates.endTurn(),
          ...(spent === undefined ? [] : [{ type: 'usage', spent } as const]),
        )
        return turn.isInterrupted
          ? ({ type: 'turn ended', how: 'interrupted' } as const)
          : endFor(response)
      },
      (error: unknown) => {
        turn.events.push(...updates.endTurn())
        return this.#failed(turn, error)
      },
    )
    this.#listener.turn = undefined
    turn.events.push({ ...end, ...defined({ said: updates.said }) })
  }

  #ask(text: string): Promise<PromptResponse> {
    const { agent } = this.#agent.connection
    return agent.request(methods.agent.session.prompt, {
      sessionId: this.id,
      prompt: [{ type: 'text', text }],
    })
  }

  async #failed(turn: Turn, error: unknown): Promise<TurnEnded> {
    if (!this.#agent.connection.signal.aborted) {
      if (turn.isInterrupted) return { type: 'turn ended', how: 'interrupted' }
      const failure = failureOf(error)
      const limit = limitBehind(error)
      if (limit !== undefined && !turn.isLimitTold) turn.events.push({ type: 'limit', ...limit })
      return { type: 'turn ended', how: 'failed', failure }
    }
    // It is gone, or has closed its output and is as good as gone.
    await this.#agent.process.end(CLOSE_PATIENCE_MS)
    if (turn.isInterrupted) return { type: 'turn ended', how: 'interrupted' }
    return { type: 'turn ended', how: 'died', failure: await endOf(this.#agent.process) }
  }

  async interrupt(): Promise<void> {
    const { turn } = this.#listener
    if (turn === undefined) return
    turn.cancel()
    this.#agent.connection.agent
      .notify(methods.agent.session.cancel, { sessionId: this.id })
      .catch(() => undefined)
    await within(TURN_PATIENCE_MS, turn.ended)
    if (this.#listener.turn === turn) await this.#agent.process.end(CLOSE_PATIENCE_MS)
    await turn.ended
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const { process, connection } = this.#agent
    const { turn } = this.#listener
    turn?.cancel()
    process.stdin.end()
    await within(CLOSE_PATIENCE_MS, process.exited)
    await process.end(CLOSE_PATIENCE_MS)
    connection.close()
    await turn?.ended
  }
}

function newTurn(): Turn {
  let cancel = () => {}
  const cancelled = new Promise<void>((resolve) => (cancel = resolve))
  const turn: Turn = {
    events: new EventQueue(),
    cancelled,
    cancel() {
      turn.isInterrupted = true
      cancel()
    },
    isInterrupted: false,
    isLimitTold: false,
    ended: Promise.resolve(),
  }
  return turn
}

function endFor({ stopReason }: PromptResponse): TurnEnded {
  if (stopReason === 'end_turn') return { type: 'turn ended', how: 'completed' }
  if (stopReason === 'cancelled') return { type: 'turn ended', how: 'interrupted' }
  return {
    type: 'turn ended',
    how: 'failed',
    failure: FAILURES[stopReason] ?? `it stopped: ${stopReason}`,
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  max_tokens: 'the answer became longer than the model may give',
  max_turn_requests: 'the turn took more requests to the model than the agent allows',
  refusal: 'the model refused to go on',
}

async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
