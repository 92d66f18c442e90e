import { tokensOf } from '../../contract/usage.ts'
import { resolve } from 'node:path'
import {
  type ApiHistory,
  type StoredContext,
  type ToolUse,
  toolResult,
  toolUses,
} from './api-history.ts'
import { askModel } from './ask-model.ts'
import { ModelFailure, fullContext, withoutKey } from './model-failure.ts'
import { type Reply, type Stop, UNREADABLE } from './provider.ts'
import { TOOLS, type ToolProgram, type ToolResult, faultIn } from './tools/tool-program.ts'
import type { Room } from './settings.ts'
import { isInside } from '../../../command/inside-tree.ts'
import type { Message, Part } from '../../../history/items.ts'
import { randomHex } from '../../../journal/random.ts'
import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, textOf } from '../../../text/json-fields.ts'
import { estimateTokens } from '../../../text/tokens.ts'
import {
  type ApiSettings,
  type Conversation,
  EventQueue,
  type HarnessEvent,
  type OpenConversation,
  type PermissionRequest,
  type ProcessMark,
  type TurnEnded,
} from '../../contract/drive.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'
import { StintError } from '../../../journal/errors.ts'

export interface TurnWork {
  readonly settings: ApiSettings
  readonly model: string
  readonly room: Room
  readonly key: string | undefined
  readonly waits?: readonly number[]
  readonly history: ApiHistory
  readonly program: ToolProgram
  readonly options: OpenConversation
  readonly tell: (event: HarnessEvent) => void
  readonly signal: AbortSignal
}

export async function takeTurn(prompt: string, work: TurnWork): Promise<TurnEnded> {
  const { history, tell, signal } = work
  history.say({ role: 'user', parts: [{ type: 'text', text: prompt.toWellFormed() }] })
  let said: string | undefined
  try {
    for (;;) {
      const context = history.read()
      const reply = await answerTo(context, work)
      const text = textIn(reply.parts)
      if (text !== undefined) tell({ type: 'text', text })
      said = text ?? said
      tellUsage(reply, context, work)
      if (signal.aborted) return { type: 'turn ended', how: 'interrupted', ...defined({ said }) }
      if (reply.stop === 'full') throw fullContext('the model had no room left for its answer')
      const failure = FAILURES[reply.stop]
      if (failure !== undefined)
        return { type: 'turn ended', how: 'failed', failure, ...defined({ said }) }
      const uses = toolUses(reply.parts)
      if (uses.length === 0) return { type: 'turn ended', how: 'completed', ...defined({ said }) }
      for (const use of uses) {
        const result = await useTool(use, work)
        if (result === undefined) return { type: 'turn ended', how: 'died', ...defined({ said }) }
        history.say({ role: 'user', parts: [toolResult(use.id, result.text, result.isError)] })
      }
      if (signal.aborted) return { type: 'turn ended', how: 'interrupted', ...defined({ said }) }
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    // For readers of the history; it is not sent to the model.
    history.say({
      role: 'assistant',
      parts: [{ type: 'text', text: error.message }],
      isFailure: true,
    })
    if (error.at.isFull === true) tellFull(work)
    if (error.kind === 'limit')
      tell({ type: 'limit', message: error.message, ...defined({ resetsAt: error.at.resetsAt }) })
    return { type: 'turn ended', how: 'failed', failure: error.message, ...defined({ said }) }
  }
}

const FAILURES: Readonly<Partial<Record<Stop, string>>> = {
  length: 'the answer became longer than the model may give; max_output sets how long it may be',
  refused: 'the model refused to go on',
}

async function answerTo({ system, items, live }: StoredContext, work: TurnWork): Promise<Reply> {
  const { settings, model, room, key, waits, history, options, tell, signal } = work
  const tokens = contextTokens(live)
  if (room.point !== undefined && tokens > room.point) {
    throw fullContext(
      `it has about ${tokens} tokens, and beyond ${room.point} of ${room.window} there is no room for an answer`,
    )
  }
  const reply = await askModel(
    { settings, model, maxOutput: room.maxOutput, system, items, tools: TOOLS },
    {
      key,
      delta: (text) => tell({ type: 'delta', text }),
      anew: () => tell({ type: 'anew' }),
      trace: (direction, line) => options.trace?.(direction, line),
      signal,
      ...defined({ waits }),
    },
  )
  // Tool uses of an incomplete answer would never get a result.
  const isWhole = reply.stop === 'end' || reply.stop === 'tools'
  const parts = withOwnIds(
    isWhole ? reply.parts : reply.parts.filter(({ type }) => type === 'text'),
    live,
  )
  if (parts.length > 0) {
    // Some servers give every answer the same id.
    const request = live.some((message) => message.request === reply.request)
      ? undefined
      : reply.request
    history.say({
      role: 'assistant',
      parts,
      model: reply.model ?? model,
      ...defined({ usage: reply.usage, request }),
    })
  }
  return { ...reply, parts }
}

/** Some servers restart the numbers of tool uses in each answer. */
function withOwnIds(parts: readonly Part[], live: StoredContext['live']): readonly Part[] {
  const taken = new Set(live.flatMap((message) => toolUses(message.parts)).map(({ id }) => id))
  return parts.map((part) => {
    if (part.type !== 'tool use') return part
    const id = taken.has(part.id) ? `${part.id}_${randomHex(4)}` : part.id
    taken.add(id)
    return { ...part, id }
  })
}

function tellUsage(
  { usage, parts, model }: Reply,
  { live }: StoredContext,
  { room, tell, ...work }: TurnWork,
): void {
  if (usage === undefined && parts.length === 0) return
  // Without counts from the server, an estimate shows how full the context is.
  const context =
    usage === undefined
      ? contextTokens([...live, { type: 'message', id: '', role: 'assistant', parts }])
      : tokensOf(usage)
  tell({
    type: 'usage',
    context,
    model: model ?? work.model,
    ...defined({ spent: usage, window: room.window, point: room.point }),
  })
}

function tellFull({ room: { window, point }, model, tell }: TurnWork): void {
  if (window !== undefined)
    tell({ type: 'usage', context: window, window, model, ...defined({ point }) })
}

function textIn(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}

export interface ToolWork {
  readonly program: ToolProgram
  readonly options: OpenConversation
  readonly tell: (event: HarnessEvent) => void
  readonly signal: AbortSignal
}

const OUTPUT_SHOWN = 4000

export async function useTool(
  use: ToolUse,
  { program, options, tell, signal }: ToolWork,
): Promise<ToolResult | undefined> {
  const about = {
    type: 'tool',
    id: use.id,
    name: use.name,
    ...targetOf(use.input, options.cwd),
  } as const
  tell({ ...about, status: 'started' })
  const result = await Promise.race([
    resultOf(use, { program, options, signal }),
    program.process.exited.then(() => undefined),
  ])
  if (result === undefined) return undefined
  tell({
    ...about,
    status: result.isError ? 'failed' : 'completed',
    ...defined({ output: cleanText(result.text.slice(-OUTPUT_SHOWN)) }),
  })
  return result
}

type Using = Pick<ToolWork, 'program' | 'options' | 'signal'>

async function resultOf(
  { name, input }: ToolUse,
  { program, options, signal }: Using,
): Promise<ToolResult> {
  const tool = TOOLS.find((one) => one.name === name)
  if (tool === undefined)
    return fault(`there is no tool ${name}; there are ${TOOLS.map((one) => one.name).join(', ')}`)
  if (input[UNREADABLE] !== undefined) return fault('the input is not valid JSON')
  const wrong = faultIn(tool, input)
  if (wrong !== undefined) return fault(wrong)
  if (signal.aborted) return fault(NOT_RUN)
  const stopped = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve(NOT_RUN), { once: true }),
  )
  const refused = await Promise.race([refusal(name, input, options), stopped])
  if (refused !== undefined) return fault(refused)
  return program.use(tool.name, input, signal)
}

const NOT_RUN = 'It was not run: the turn was interrupted.'

function fault(text: string): ToolResult {
  return { text, isError: true }
}

export function targetOf(
  input: Json,
  cwd: string,
): { readonly command?: string; readonly path?: string } {
  const path = textOf(input.path)
  return defined({
    command: textOf(input.command),
    path: path === undefined ? undefined : resolve(cwd, path),
  })
}

export async function refusal(
  tool: string,
  input: Json,
  options: OpenConversation,
): Promise<string | undefined> {
  const target = targetOf(input, options.cwd)
  if (tool === 'read' && target.path !== undefined && isInside(options.cwd, target.path))
    return undefined
  const about = target.command ?? textOf(input.path)
  const title = shorten(oneLine(about === undefined ? tool : `${tool}: ${about}`), 200)
  const request: PermissionRequest = { tool, title, ...target }
  // If asking fails, it is not allowed.
  if (await isPermitted(request, options).catch(() => false)) return undefined
  const reason = reasonAgainst(request, options)
  return `This is not permitted here: ${title}${reason === undefined ? '' : ` (${reason})`}. Do without it, or say that it cannot be done.`
}

const TOOLS_TOKENS = 800
const PICTURE_TOKENS = 1600

/** As the model counted them last, and a generous estimate from there on. */
export function contextTokens(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ usage }) => usage !== undefined && tokensOf(usage) > 0)
  const counted = last === -1 ? TOOLS_TOKENS : tokensOf(messages[last]!.usage!)
  return messages.slice(last + 1).reduce((sum, { parts }) => sum + estimated(parts), counted)
}

function estimated(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + estimatedPart(part), 0)
}

function estimatedPart(part: Part): number {
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
