import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type NewSessionRequest,
  type PermissionOption,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  methods,
} from '@agentclientprotocol/sdk'
import { StintError } from '../../../journal/errors.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asObject } from '../../../text/json-fields.ts'
import {
  type Conversation,
  type HarnessCheck,
  type HarnessEvent,
  type ConversationOptions,
  type PermissionRequest,
  type ProcessTag,
  TurnStream,
  type TurnEnded,
} from '../../contract/drive.ts'
import { isAllowedByRules } from '../../contract/permission-rules.ts'
import { describeExit } from '../../process/spawn-guarded.ts'
import {
  type AcpProgram,
  type StartedAgent,
  failureMessage,
  limitFromError,
  endAgentOnFailure,
  startAgent,
} from './start-agent.ts'
import { type AcpToolUse, UpdateTranslator, turnUsage } from './translator.ts'

const INTERRUPT_GRACE_MS = 5000
const CLOSE_GRACE_MS = 2000

/** Receives updates and permission requests, which may arrive before the conversation has an id. */
class AcpListener {
  readonly updates: UpdateTranslator
  readonly #options: ConversationOptions
  turn: TurnStream | undefined
  isLimitReported = false
  /** Agents may also report conversations of their own sub-agents. */
  id: string | undefined
  /** The last usage between two turns. */
  #usageBetweenTurns: HarnessEvent | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    this.updates = new UpdateTranslator(options)
  }

  readonly update = (params: Json): void => {
    if (this.id !== undefined && params.sessionId !== this.id) return
    const events = this.updates.read(asObject(params.update) ?? {})
    // Between turns agents send only history and usage.
    if (this.turn === undefined)
      this.#usageBetweenTurns =
        events.findLast((event) => event.type === 'usage') ?? this.#usageBetweenTurns
    else {
      this.turn.push(...events)
      this.isLimitReported ||= events.some((event) => event.type === 'limit')
    }
  }

  readonly permission = async ({
    toolCall,
    options,
  }: RequestPermissionRequest): Promise<RequestPermissionResponse> => {
    const use = this.updates.tool(toolCall as unknown as Json)
    // Some agents describe the tool use only when they ask for permission.
    const { status: _, ...toolFields } = toolCall
    this.update({
      sessionId: this.id,
      update: { ...toolFields, sessionUpdate: 'tool_call_update' },
    })
    const isAllowed = isUsePermitted(use, this.#options).catch(() => false)
    const { signal } = this.turn?.stopping ?? new AbortController()
    const isCancelled = signal.aborted || once(signal, 'abort').then(() => true)
    const decided = await Promise.race([isAllowed.then((yes) => ({ yes })), isCancelled])
    return typeof decided === 'object'
      ? permissionResponse(decided.yes, options)
      : { outcome: { outcome: 'cancelled' } }
  }

  begin(turn: TurnStream): void {
    // Late updates of an earlier turn, or of loaded history, belong to no turn.
    this.updates.endTurn()
    this.updates.lastMessage = undefined
    this.turn = turn
    this.isLimitReported = false
    if (this.#usageBetweenTurns !== undefined) turn.push(this.#usageBetweenTurns)
    this.#usageBetweenTurns = undefined
  }
}

class AcpConversation implements Conversation {
  readonly id: string
  readonly process: ProcessTag
  readonly #agent: StartedAgent
  readonly #listener: AcpListener
  readonly #model: string | undefined
  #isStarted = false
  #closing: Promise<void> | undefined

  constructor(id: string, agent: StartedAgent, listener: AcpListener, model: string | undefined) {
    this.id = id
    listener.id = id
    this.process = agent.process.tag
    this.#agent = agent
    this.#listener = listener
    this.#model = model
  }

  prompt(text: string): AsyncIterable<HarnessEvent> {
    if (this.#listener.turn !== undefined)
      throw new Error('another turn of this conversation is running')
    const turn = new TurnStream()
    if (!this.#isStarted)
      turn.push({ type: 'started', conversation: this.id, ...defined({ model: this.#model }) })
    this.#isStarted = true
    this.#listener.begin(turn)
    void this.#runTurn(turn, text)
    return turn
  }

  async #runTurn(turn: TurnStream, text: string): Promise<void> {
    const { updates } = this.#listener
    const end = await this.#sendPrompt(text).then(
      (response) => {
        const spent = turnUsage(response as unknown as Json)
        turn.push(...updates.endTurn())
        if (spent !== undefined) turn.push({ type: 'usage', spent })
        return turn.isInterrupted ? INTERRUPTED : turnEnd(response)
      },
      (error: unknown) => {
        turn.push(...updates.endTurn())
        return this.#failed(turn, error)
      },
    )
    this.#listener.turn = undefined
    turn.push({ ...end, ...defined({ said: updates.lastMessage }) })
  }

  #sendPrompt(text: string): Promise<PromptResponse> {
    return this.#agent.connection.agent.request(methods.agent.session.prompt, {
      sessionId: this.id,
      prompt: [{ type: 'text', text }],
    })
  }

  async #failed(turn: TurnStream, error: unknown): Promise<TurnEnded> {
    const { connection, process } = this.#agent
    const isGone = connection.signal.aborted
    // A closed output means that the agent is as good as gone.
    if (isGone) await process.end(CLOSE_GRACE_MS)
    if (turn.isInterrupted) return INTERRUPTED
    if (isGone) return { type: 'turn ended', how: 'died', failure: await describeExit(process) }
    const limit = limitFromError(error)
    if (limit !== undefined && !this.#listener.isLimitReported)
      turn.push({ type: 'limit', ...limit })
    return { type: 'turn ended', how: 'failed', failure: failureMessage(error) }
  }

  async interrupt(): Promise<void> {
    const { turn } = this.#listener
    if (turn === undefined) return
    turn.stopping.abort()
    this.#agent.connection.agent
      .notify(methods.agent.session.cancel, { sessionId: this.id })
      .catch(() => undefined)
    await Promise.race([turn.ended, pause(INTERRUPT_GRACE_MS, undefined, { ref: false })])
    if (this.#listener.turn === turn) await this.#agent.process.end(CLOSE_GRACE_MS)
    await turn.ended
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const { process, connection } = this.#agent
    const { turn } = this.#listener
    turn?.stopping.abort()
    process.stdin.end()
    await Promise.race([process.exited, pause(CLOSE_GRACE_MS, undefined, { ref: false })])
    await process.end(CLOSE_GRACE_MS)
    connection.close()
    await turn?.ended
  }
}

const INTERRUPTED: TurnEnded = { type: 'turn ended', how: 'interrupted' }

function turnEnd({ stopReason }: PromptResponse): TurnEnded {
  if (stopReason === 'end_turn') return { type: 'turn ended', how: 'completed' }
  if (stopReason === 'cancelled') return INTERRUPTED
  const failure = FAILURES[stopReason] ?? `it stopped: ${stopReason}`
  return { type: 'turn ended', how: 'failed', failure }
}

const FAILURES: Readonly<Record<string, string>> = {
  max_tokens: 'the answer became longer than the model may give',
  max_turn_requests: 'the turn took more requests to the model than the agent allows',
  refusal: 'the model refused to go on',
}

export async function checkAgent(
  program: AcpProgram,
  env: NodeJS.ProcessEnv,
): Promise<HarnessCheck> {
  const cwd = process.cwd()
  try {
    const listener = new AcpListener({ cwd, env, permissions: 'ask', allow: [] })
    const { info, process: started } = await startAgent(program, { cwd, env }, listener)
    started.stdin.end()
    await started.end()
    const { agentInfo, protocolVersion } = info
    return { isThere: true, version: agentInfo?.version ?? `protocol ${protocolVersion}` }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    const hint = error.hint ?? 'run it by hand to see what is wrong with it'
    return { isThere: false, problem: error.message, hint }
  }
}

export async function openConversation(
  program: AcpProgram,
  options: ConversationOptions,
): Promise<Conversation> {
  const listener = new AcpListener(options)
  const agent = await startAgent(program, options, listener)
  return endAgentOnFailure(program, agent, async () => {
    const { id, configOptions } = await openSession(program, agent, options)
    const model = await chooseModel(program, agent, id, configOptions ?? [], options.model)
    return new AcpConversation(id, agent, listener, model)
  })
}

async function openSession(
  { name }: AcpProgram,
  { connection, info }: StartedAgent,
  { cwd, resume }: ConversationOptions,
) {
  const session: NewSessionRequest = { cwd, mcpServers: [] }
  if (resume === undefined) {
    const { sessionId: id, configOptions } = await connection.agent.request(
      methods.agent.session.new,
      session,
    )
    return { id, configOptions }
  }
  const { loadSession, sessionCapabilities } = info.agentCapabilities ?? {}
  if (loadSession !== true && (sessionCapabilities?.resume ?? undefined) === undefined)
    throw new StintError(
      'CANNOT_RESUME',
      `${name} cannot go on with a conversation`,
      'begin a new one',
    )
  const method = loadSession === true ? methods.agent.session.load : methods.agent.session.resume
  const { configOptions } = await connection.agent.request(method, {
    ...session,
    sessionId: resume,
  })
  return { id: resume, configOptions }
}

/** Returns the model in use, if the agent reports it. */
async function chooseModel(
  { name }: AcpProgram,
  { connection }: StartedAgent,
  sessionId: string,
  options: readonly SessionConfigOption[],
  wanted: string | undefined,
): Promise<string | undefined> {
  const option = options.find(
    (one) => one.type === 'select' && (one.category === 'model' || one.id === 'model'),
  )
  if (wanted === undefined)
    return option?.type === 'select' && option.currentValue !== 'default'
      ? option.currentValue
      : undefined
  if (option === undefined)
    throw new StintError(
      'NO_CHOICE_OF_MODEL',
      `${name} does not let its model be chosen`,
      'leave --model away, or choose it in its own settings',
    )
  await connection.agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: option.id,
    value: wanted,
  })
  return wanted
}

const READING = new Set(['read', 'search', 'think'])
const EDITING = new Set(['edit', 'delete', 'move'])

export async function isUsePermitted(
  use: AcpToolUse,
  options: ConversationOptions,
): Promise<boolean> {
  const title = oneLine(use.title ?? use.command ?? use.paths[0] ?? use.name)
  const request: PermissionRequest = {
    tool: use.name,
    title: shorten(title === '' ? use.name : title, 200),
    ...defined({ command: use.command, cwd: use.cwd, path: use.paths[0] }),
  }
  if (options.permissions === 'all' || isAllowedUse(use, request, options)) return true
  return (await options.decide?.(request)) ?? false
}

function isAllowedUse(
  { kind = 'other', command, paths }: AcpToolUse,
  request: PermissionRequest,
  options: ConversationOptions,
): boolean {
  if (command !== undefined) return isAllowedByRules(request, options)
  if (READING.has(kind)) return options.permissions === 'edits'
  // The path that a tool of another kind names need not be what it changes.
  if (!EDITING.has(kind) || paths.length === 0) return false
  return paths.every((path) => isAllowedByRules({ ...request, path }, options))
}

/** Prefers the options that apply once. */
function permissionResponse(
  isAllowed: boolean,
  options: readonly PermissionOption[],
): RequestPermissionResponse {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const [chosen] = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])
  return {
    outcome:
      chosen === undefined
        ? { outcome: 'cancelled' }
        : { outcome: 'selected', optionId: chosen.optionId },
  }
}
