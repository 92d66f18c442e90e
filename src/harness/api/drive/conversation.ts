// Everything is stored before it is acted on, and every request is built from the store.
import { resolve } from 'node:path'
import { isInsideTree } from '../../../command/inside-tree.ts'
import type { Message, MessagePart, ToolUsePart } from '../../../history/items.ts'
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
import { type ApiHistory, type StoredContext, toolResultPart, toolUses } from './api-history.ts'
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

const CLOSE_GRACE_MS = 2000

interface ApiContext {
  readonly settings: ApiSettings
  readonly model: string
  readonly limits: TokenLimits
  readonly key: string | undefined
  readonly retryDelays?: readonly number[]
  readonly history: ApiHistory
  readonly tools: ToolProgram
  readonly options: ConversationOptions
}

interface ApiTurnContext extends ApiContext {
  readonly emit: (event: HarnessEvent) => void
  /** Aborted when the turn is interrupted or the tool program exits. */
  readonly signal: AbortSignal
}

export class ApiConversation implements Conversation {
  readonly id: string
  readonly process: ProcessTag
  readonly #context: ApiContext
  readonly #begin: () => void
  #turn: TurnStream | undefined
  #isStarted = false
  #isGone = false
  #closing: Promise<void> | undefined

  /** `begin` stores the opening messages. */
  constructor(id: string, context: ApiContext, begin: () => void) {
    const { process } = context.tools
    this.id = id
    this.process = process.tag
    this.#context = context
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
    void this.#runTurn(text, turn)
    return turn
  }

  async #runTurn(text: string, turn: TurnStream): Promise<void> {
    const end = await this.#reply(text, turn).catch((error: unknown): TurnEnded => {
      const message = error instanceof Error ? error.message : String(error)
      const failure = shorten(oneLine(redactKey(message, this.#context.key)), 2000)
      return { type: 'turn ended', how: 'failed', failure }
    })
    this.#turn = undefined
    turn.push(this.#isGone ? { ...end, how: 'died', failure: await this.#exitReason() } : end)
  }

  async #reply(text: string, turn: TurnStream): Promise<TurnEnded> {
    if (this.#isGone || this.#closing !== undefined)
      return { type: 'turn ended', how: 'died', failure: await this.#exitReason() }
    if (!this.#isStarted) {
      this.#begin()
      const { model, limits } = this.#context
      const { window } = limits
      turn.push({ type: 'started', conversation: this.id, model, ...defined({ window }) })
    }
    this.#isStarted = true
    const { signal } = turn.stopping
    return runTurn(text, { ...this.#context, emit: (event) => turn.push(event), signal })
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
    const { process } = this.#context.tools
    turn?.stopping.abort()
    process.stdin.end()
    await process.end(CLOSE_GRACE_MS)
    await turn?.ended
    try {
      if (this.#isStarted) this.#context.history.end('closed')
    } catch (error) {
      // A full disk must not keep the process from ending.
      if (!(error instanceof StintError)) throw error
    }
  }

  async #exitReason(): Promise<string> {
    if (this.#closing !== undefined) return 'the conversation was closed'
    return describeExit(this.#context.tools.process, 'the program of the tools')
  }
}

async function runTurn(prompt: string, context: ApiTurnContext) {
  const { history, emit, signal } = context
  history.append({ role: 'user', parts: [{ type: 'text', text: prompt.toWellFormed() }] })
  let lastText: string | undefined
  const end = (how: TurnEnded['how'], failure?: string): TurnEnded => ({
    type: 'turn ended',
    how,
    ...defined({ failure, said: lastText }),
  })
  try {
    for (;;) {
      const stored = history.read()
      const reply = await requestReply(stored, context)
      const texts = reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      if (texts.length > 0) {
        lastText = texts.join('\n')
        emit({ type: 'text', text: lastText })
      }
      emitUsage(reply, stored, context)
      if (signal.aborted) return end('interrupted')
      if (reply.stop === 'full')
        throw contextFullFailure('the model had no room left for its answer')
      const failure = FAILURES[reply.stop]
      if (failure !== undefined) return end('failed', failure)
      const uses = toolUses(reply.parts)
      if (uses.length === 0) return end('completed')
      for (const use of uses) {
        const result = await useTool(use, context)
        if (result === undefined) return end('died')
        history.append({
          role: 'user',
          parts: [toolResultPart(use.id, result.text, result.isError)],
        })
      }
      if (signal.aborted) return end('interrupted')
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    const { message, details, kind } = error
    // For readers of the history; it is not sent to the model.
    history.append({ role: 'assistant', parts: [{ type: 'text', text: message }], isFailure: true })
    const { window, point } = context.limits
    // The handoff has to know that the context is full.
    if (details.isFull === true && window !== undefined)
      emit({ type: 'usage', context: window, window, model: context.model, ...defined({ point }) })
    if (kind === 'limit')
      emit({ type: 'limit', message, ...defined({ resetsAt: details.resetsAt }) })
    return end('failed', message)
  }
}

const FAILURES: Readonly<Partial<Record<StopReason, string>>> = {
  length: 'the answer became longer than the model may give; max_output sets how long it may be',
  refused: 'the model refused to go on',
}

/** Stores the reply, even if the turn was interrupted in the middle. */
async function requestReply({ system, items, live }: StoredContext, context: ApiTurnContext) {
  const { settings, model, limits, key, retryDelays, history, options, emit, signal } = context
  const tokens = contextTokens(live)
  if (limits.point !== undefined && tokens > limits.point)
    throw contextFullFailure(
      `it has about ${tokens} tokens, and beyond ${limits.point} of ${limits.window} there is no room for an answer`,
    )
  const reply = await askModel(
    { settings, model, maxOutput: limits.maxOutput, system, items, tools: API_TOOLS },
    {
      key,
      delta: (text) => emit({ type: 'delta', text }),
      restarted: () => emit({ type: 'anew' }),
      trace: (direction, line) => options.trace?.(direction, line),
      signal,
      ...defined({ retryDelays }),
    },
  )
  // Tool uses of an incomplete reply would never get a result.
  const isComplete = reply.stop === 'end' || reply.stop === 'tools'
  const keptParts = reply.parts.filter(({ type }) => isComplete || type === 'text')
  const parts = withUniqueIds(keptParts, live)
  // Some servers give every reply the same id.
  const isRepeated = live.some((message) => message.request === reply.request)
  if (parts.length > 0)
    history.append({
      role: 'assistant',
      parts,
      model: reply.model ?? model,
      ...defined({ usage: reply.usage, request: isRepeated ? undefined : reply.request }),
    })
  return { ...reply, parts }
}

/** Some servers restart the ids of tool uses in each reply. */
function withUniqueIds(parts: readonly MessagePart[], live: readonly Message[]) {
  const usedIds = new Set(live.flatMap((message) => toolUses(message.parts)).map(({ id }) => id))
  return parts.map((part) => {
    if (part.type !== 'tool use') return part
    const id = usedIds.has(part.id) ? `${part.id}_${randomHex(4)}` : part.id
    usedIds.add(id)
    return { ...part, id }
  })
}

function emitUsage(
  reply: ModelReply,
  { live }: StoredContext,
  { limits, emit, model }: ApiTurnContext,
) {
  const { usage, parts } = reply
  if (usage === undefined && parts.length === 0) return
  // Without counts from the server, an estimate shows how full the context is.
  const context =
    usage === undefined
      ? contextTokens([...live, { type: 'message', id: '', role: 'assistant', parts }])
      : usageTotal(usage)
  const { window, point } = limits
  const more = defined({ spent: usage, window, point })
  emit({ type: 'usage', context, model: reply.model ?? model, ...more })
}

const MAX_OUTPUT_SHOWN = 4000

/** Undefined when the tool program exited meanwhile. */
async function useTool(use: ToolUsePart, context: ApiTurnContext) {
  const { tools, options, emit } = context
  const { id, name } = use
  const event = { type: 'tool', id, name, ...toolTarget(use.input, options.cwd) } as const
  emit({ ...event, status: 'started' })
  const result = await Promise.race([
    runTool(use, context),
    tools.process.exited.then(() => undefined),
  ])
  if (result === undefined) return undefined
  const output = cleanText(result.text.slice(-MAX_OUTPUT_SHOWN))
  emit({ ...event, status: result.isError ? 'failed' : 'completed', output })
  return result
}

async function runTool({ name, input }: ToolUsePart, context: ApiTurnContext) {
  const { tools, options, signal } = context
  const toolError = (text: string): ToolResult => ({ text, isError: true })
  const tool = API_TOOLS.find((one) => one.name === name)
  if (tool === undefined)
    return toolError(
      `there is no tool ${name}; there are ${API_TOOLS.map((one) => one.name).join(', ')}`,
    )
  if (input[UNPARSED_INPUT] !== undefined) return toolError('the input is not valid JSON')
  const inputError = toolInputError(tool, input)
  if (inputError !== undefined) return toolError(inputError)
  if (signal.aborted) return toolError(INTERRUPTED_RESULT)
  const interrupted = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve(INTERRUPTED_RESULT), { once: true }),
  )
  const refused = await Promise.race([refusal(name, input, options), interrupted])
  return refused === undefined ? tools.use(tool.name, input, signal) : toolError(refused)
}

const INTERRUPTED_RESULT = 'It was not run: the turn was interrupted.'

function toolTarget(input: Json, cwd: string) {
  const path = asText(input.path)
  return defined({ command: asText(input.command), path: path && resolve(cwd, path) })
}

/** Undefined when the tool use is permitted. */
async function refusal(tool: string, input: Json, options: ConversationOptions) {
  const target = toolTarget(input, options.cwd)
  if (tool === 'read' && target.path !== undefined && isInsideTree(options.cwd, target.path))
    return undefined
  const subject = target.command ?? asText(input.path)
  const title = shorten(oneLine(subject === undefined ? tool : `${tool}: ${subject}`), 200)
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
  return messages.slice(last + 1).reduce((sum, { parts }) => sum + estimateParts(parts), counted)
}

function estimateParts(parts: readonly MessagePart[]): number {
  return parts.reduce((sum, part) => sum + estimatePart(part), 0)
}

function estimatePart(part: MessagePart): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return estimateTokens(part.text)
    case 'tool use':
      return estimateTokens(JSON.stringify(part.input))
    case 'tool result':
      return estimateParts(part.parts)
    case 'image':
    case 'image link':
      return PICTURE_TOKENS
    case 'other':
      return estimateTokens(JSON.stringify(part.block))
  }
}
