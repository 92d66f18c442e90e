// Everything is stored before it is acted on, and every request is built from the store.
import { resolve } from 'node:path'
import { isInsideTree } from '../../../command/inside-tree.ts'
import type { Message, MessagePart } from '../../../history/items.ts'
import { StintError } from '../../../journal/errors.ts'
import { randomHex } from '../../../journal/ids.ts'
import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asText } from '../../../text/json-fields.ts'
import { estimateTokens } from '../../../text/tokens.ts'
import {
  type ApiSettings,
  type Conversation,
  type HarnessEvent,
  type ConversationOptions,
  type ProcessTag,
  TurnStream,
  type TurnEnded,
} from '../../contract/drive.ts'
import { isPermitted, refusalReason } from '../../contract/permission-rules.ts'
import { usageTotal } from '../../contract/usage.ts'
import { describeExit } from '../../process/spawn-guarded.ts'
import {
  type ApiHistory,
  type StoredContext,
  type ToolUsePart,
  toolResultPart,
  toolUses,
} from './api-history.ts'
import { askModel } from './ask-model.ts'
import { ModelFailure, contextFullFailure, redactKey } from './model-failure.ts'
import { type ModelReply, type StopReason, UNPARSED_INPUT } from './provider.ts'
import type { TokenLimits } from './settings.ts'
import {
  API_TOOLS,
  type ToolProgram,
  type ToolResult,
  toolInputError,
} from './tools/tool-program.ts'

const CLOSE_PATIENCE_MS = 2000

interface ApiWork {
  readonly settings: ApiSettings
  readonly model: string
  readonly room: TokenLimits
  readonly key: string | undefined
  readonly waits?: readonly number[]
  readonly history: ApiHistory
  readonly program: ToolProgram
  readonly options: ConversationOptions
}

interface TurnWork extends ApiWork {
  readonly tell: (event: HarnessEvent) => void
  /** Aborted when the turn is interrupted or the tool program exits. */
  readonly signal: AbortSignal
}

export class ApiConversation implements Conversation {
  readonly id: string
  readonly process: ProcessTag
  readonly #work: ApiWork
  readonly #begin: () => void
  #turn: TurnStream | undefined
  #isStarted = false
  #isGone = false
  #closing: Promise<void> | undefined

  /** `begin` stores the opening messages. */
  constructor(id: string, work: ApiWork, begin: () => void) {
    const { process } = work.program
    this.id = id
    this.process = process.mark
    this.#work = work
    this.#begin = begin
    void process.exited.then(() => {
      this.#isGone = true
      this.#turn?.stopping.abort()
    })
  }

  prompt(text: string): AsyncIterable<HarnessEvent> {
    if (this.#turn !== undefined) throw new Error('another turn of this conversation is running')
    const turn = new TurnStream()
    this.#turn = turn
    void this.#take(text, turn)
    return turn
  }

  async #take(text: string, turn: TurnStream): Promise<void> {
    const end = await this.#answer(text, turn).catch((error: unknown): TurnEnded => {
      const message = error instanceof Error ? error.message : String(error)
      const failure = shorten(oneLine(redactKey(message, this.#work.key)), 2000)
      return { type: 'turn ended', how: 'failed', failure }
    })
    this.#turn = undefined
    turn.push(this.#isGone ? { ...end, how: 'died', failure: await this.#death() } : end)
  }

  async #answer(text: string, turn: TurnStream): Promise<TurnEnded> {
    if (this.#isGone || this.#closing !== undefined)
      return { type: 'turn ended', how: 'died', failure: await this.#death() }
    if (!this.#isStarted) {
      this.#begin()
      const { model, room } = this.#work
      const { window } = room
      turn.push({ type: 'started', conversation: this.id, model, ...defined({ window }) })
    }
    this.#isStarted = true
    const { signal } = turn.stopping
    return takeTurn(text, { ...this.#work, tell: (event) => turn.push(event), signal })
  }

  async interrupt(): Promise<void> {
    const turn = this.#turn
    turn?.stopping.abort()
    await turn?.ended
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close() {
    const turn = this.#turn
    const { process } = this.#work.program
    turn?.stopping.abort()
    process.stdin.end()
    await process.end(CLOSE_PATIENCE_MS)
    await turn?.ended
    try {
      if (this.#isStarted) this.#work.history.end('closed')
    } catch (error) {
      // A full disk must not keep the process from ending.
      if (!(error instanceof StintError)) throw error
    }
  }

  async #death(): Promise<string> {
    if (this.#closing !== undefined) return 'the conversation was closed'
    return describeExit(this.#work.program.process, 'the program of the tools')
  }
}

async function takeTurn(prompt: string, work: TurnWork) {
  const { history, tell, signal } = work
  history.say({ role: 'user', parts: [{ type: 'text', text: prompt.toWellFormed() }] })
  let said: string | undefined
  const end = (how: TurnEnded['how'], failure?: string): TurnEnded => ({
    type: 'turn ended',
    how,
    ...defined({ failure, said }),
  })
  try {
    for (;;) {
      const context = history.read()
      const reply = await answerTo(context, work)
      const texts = reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      if (texts.length > 0) {
        said = texts.join('\n')
        tell({ type: 'text', text: said })
      }
      tellUsage(reply, context, work)
      if (signal.aborted) return end('interrupted')
      if (reply.stop === 'full')
        throw contextFullFailure('the model had no room left for its answer')
      const failure = FAILURES[reply.stop]
      if (failure !== undefined) return end('failed', failure)
      const uses = toolUses(reply.parts)
      if (uses.length === 0) return end('completed')
      for (const use of uses) {
        const result = await useTool(use, work)
        if (result === undefined) return end('died')
        history.say({ role: 'user', parts: [toolResultPart(use.id, result.text, result.isError)] })
      }
      if (signal.aborted) return end('interrupted')
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    const { message, at, kind } = error
    // For readers of the history; it is not sent to the model.
    history.say({ role: 'assistant', parts: [{ type: 'text', text: message }], isFailure: true })
    const { window, point } = work.room
    // The handoff has to know that the context is full.
    if (at.isFull === true && window !== undefined)
      tell({ type: 'usage', context: window, window, model: work.model, ...defined({ point }) })
    if (kind === 'limit') tell({ type: 'limit', message, ...defined({ resetsAt: at.resetsAt }) })
    return end('failed', message)
  }
}

const FAILURES: Readonly<Partial<Record<StopReason, string>>> = {
  length: 'the answer became longer than the model may give; max_output sets how long it may be',
  refused: 'the model refused to go on',
}

/** Stores the reply, even if the turn was interrupted in the middle. */
async function answerTo({ system, items, live }: StoredContext, work: TurnWork) {
  const { settings, model, room, key, waits, history, options, tell, signal } = work
  const tokens = contextTokens(live)
  if (room.point !== undefined && tokens > room.point)
    throw contextFullFailure(
      `it has about ${tokens} tokens, and beyond ${room.point} of ${room.window} there is no room for an answer`,
    )
  const reply = await askModel(
    { settings, model, maxOutput: room.maxOutput, system, items, tools: API_TOOLS },
    {
      key,
      delta: (text) => tell({ type: 'delta', text }),
      anew: () => tell({ type: 'anew' }),
      trace: (direction, line) => options.trace?.(direction, line),
      signal,
      ...defined({ waits }),
    },
  )
  // Tool uses of an incomplete reply would never get a result.
  const isWhole = reply.stop === 'end' || reply.stop === 'tools'
  const kept = reply.parts.filter(({ type }) => isWhole || type === 'text')
  const parts = withOwnIds(kept, live)
  // Some servers give every reply the same id.
  const isKnown = live.some((message) => message.request === reply.request)
  if (parts.length > 0)
    history.say({
      role: 'assistant',
      parts,
      model: reply.model ?? model,
      ...defined({ usage: reply.usage, request: isKnown ? undefined : reply.request }),
    })
  return { ...reply, parts }
}

/** Some servers restart the ids of tool uses in each reply. */
function withOwnIds(parts: readonly MessagePart[], live: readonly Message[]) {
  const taken = new Set(live.flatMap((message) => toolUses(message.parts)).map(({ id }) => id))
  return parts.map((part) => {
    if (part.type !== 'tool use') return part
    const id = taken.has(part.id) ? `${part.id}_${randomHex(4)}` : part.id
    taken.add(id)
    return { ...part, id }
  })
}

function tellUsage(reply: ModelReply, { live }: StoredContext, { room, tell, model }: TurnWork) {
  const { usage, parts } = reply
  if (usage === undefined && parts.length === 0) return
  // Without counts from the server, an estimate shows how full the context is.
  const context =
    usage === undefined
      ? contextTokens([...live, { type: 'message', id: '', role: 'assistant', parts }])
      : usageTotal(usage)
  const { window, point } = room
  const more = defined({ spent: usage, window, point })
  tell({ type: 'usage', context, model: reply.model ?? model, ...more })
}

const OUTPUT_SHOWN = 4000

/** Undefined when the tool program exited meanwhile. */
async function useTool(use: ToolUsePart, work: TurnWork) {
  const { program, options, tell } = work
  const { id, name } = use
  const about = { type: 'tool', id, name, ...targetOf(use.input, options.cwd) } as const
  tell({ ...about, status: 'started' })
  const result = await Promise.race([
    resultOf(use, work),
    program.process.exited.then(() => undefined),
  ])
  if (result === undefined) return undefined
  const output = cleanText(result.text.slice(-OUTPUT_SHOWN))
  tell({ ...about, status: result.isError ? 'failed' : 'completed', output })
  return result
}

async function resultOf({ name, input }: ToolUsePart, work: TurnWork) {
  const { program, options, signal } = work
  const fault = (text: string): ToolResult => ({ text, isError: true })
  const tool = API_TOOLS.find((one) => one.name === name)
  if (tool === undefined)
    return fault(
      `there is no tool ${name}; there are ${API_TOOLS.map((one) => one.name).join(', ')}`,
    )
  if (input[UNPARSED_INPUT] !== undefined) return fault('the input is not valid JSON')
  const wrong = toolInputError(tool, input)
  if (wrong !== undefined) return fault(wrong)
  if (signal.aborted) return fault(NOT_RUN)
  const stopped = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve(NOT_RUN), { once: true }),
  )
  const refused = await Promise.race([refusal(name, input, options), stopped])
  return refused === undefined ? program.use(tool.name, input, signal) : fault(refused)
}

const NOT_RUN = 'It was not run: the turn was interrupted.'

function targetOf(input: Json, cwd: string) {
  const path = asText(input.path)
  return defined({ command: asText(input.command), path: path && resolve(cwd, path) })
}

/** Undefined when the tool use is permitted. */
async function refusal(tool: string, input: Json, options: ConversationOptions) {
  const target = targetOf(input, options.cwd)
  if (tool === 'read' && target.path !== undefined && isInsideTree(options.cwd, target.path))
    return undefined
  const about = target.command ?? asText(input.path)
  const title = shorten(oneLine(about === undefined ? tool : `${tool}: ${about}`), 200)
  const request = { tool, title, ...target }
  // A failing decision counts as a refusal.
  if (await isPermitted(request, options).catch(() => false)) return undefined
  const reason = refusalReason(request, options)
  return `This is not permitted here: ${title}${reason === undefined ? '' : ` (${reason})`}. Do without it, or say that it cannot be done.`
}

/** For the tool descriptions. */
const TOOLS_TOKENS = 800
/** The size to which providers scale images down. */
const PICTURE_TOKENS = 1600

/** The model's last count, plus a generous estimate of what followed. */
export function contextTokens(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ usage }) => usage !== undefined && usageTotal(usage) > 0)
  const counted = last === -1 ? TOOLS_TOKENS : usageTotal(messages[last]!.usage!)
  return messages.slice(last + 1).reduce((sum, { parts }) => sum + estimated(parts), counted)
}

function estimated(parts: readonly MessagePart[]): number {
  return parts.reduce((sum, part) => sum + estimatedPart(part), 0)
}

function estimatedPart(part: MessagePart): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return estimateTokens(part.text)
    case 'tool use':
      return estimateTokens(JSON.stringify(part.input))
    case 'tool result':
      return estimated(part.parts)
    case 'image':
    case 'image link':
      return PICTURE_TOKENS
    case 'other':
      return estimateTokens(JSON.stringify(part.block))
  }
}
