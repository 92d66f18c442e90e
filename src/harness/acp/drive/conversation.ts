import {
  type NewSessionRequest,
  type PermissionOption,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  methods,
} from '@agentclientprotocol/sdk'
import {
  type Conversation,
  EventQueue,
  type HarnessCheck,
  type HarnessEvent,
  type OpenConversation,
  type PermissionRequest,
  type ProcessMark,
  type TurnEnded,
} from '../../contract/drive.ts'
import { type Json, objectOf } from '../../../text/json-fields.ts'
import {
  type AcpProgram,
  type StartedAgent,
  endOf,
  failureOf,
  limitBehind,
  orEnd,
  startAgent,
} from './start-agent.ts'
import { type ToolUse, Updates, usageIn } from './updates.ts'
import { defined } from '../../../text/defined.ts'
import { StintError } from '../../../journal/errors.ts'
import { findProgram } from '../../process/find-program.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { isPermitted } from '../../contract/permission-rules.ts'

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
    if (this.id !== undefined && params.sessionId !== this.id) return
    const events = this.updates.read(objectOf(params.update) ?? {})
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

export async function checkAgent(
  program: AcpProgram,
  env: NodeJS.ProcessEnv,
): Promise<HarnessCheck> {
  const cwd = process.cwd()
  if (findProgram(program.command, env, cwd) === undefined)
    return {
      isThere: false,
      problem: `there is no program ${program.command}`,
      hint: 'install it, or put its folder on the PATH',
    }
  try {
    const { says, process: started } = await startAgent(
      program,
      { cwd, env },
      new Listener({ cwd, env, permissions: 'ask', allow: [] }),
    )
    started.stdin.end()
    await started.end()
    const { agentInfo, protocolVersion } = says
    return { isThere: true, version: agentInfo?.version ?? `protocol ${protocolVersion}` }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      isThere: false,
      problem: error.message,
      hint: error.hint ?? 'run it by hand to see what is wrong with it',
    }
  }
}

export async function openConversation(
  program: AcpProgram,
  options: OpenConversation,
): Promise<Conversation> {
  const listener = new Listener(options)
  const agent = await startAgent(program, options, listener)
  return orEnd(program, agent, async () => {
    const { id, configOptions } = await enter(program, agent, options)
    const model = await chooseModel(program, agent, id, configOptions ?? [], options.model)
    return new AcpConversation(id, agent, listener, model)
  })
}

interface Entered {
  readonly id: string
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined
}

async function enter(
  { name }: AcpProgram,
  { connection, says }: StartedAgent,
  options: OpenConversation,
): Promise<Entered> {
  const where: NewSessionRequest = { cwd: options.cwd, mcpServers: [] }
  if (options.resume === undefined) {
    const { sessionId, configOptions } = await connection.agent.request(
      methods.agent.session.new,
      where,
    )
    return { id: sessionId, configOptions }
  }
  const { loadSession, sessionCapabilities } = says.agentCapabilities ?? {}
  const canResume = sessionCapabilities?.resume !== undefined && sessionCapabilities.resume !== null
  if (loadSession !== true && !canResume)
    throw new StintError(
      'CANNOT_RESUME',
      `${name} cannot go on with a conversation`,
      'begin a new one',
    )
  const method = loadSession === true ? methods.agent.session.load : methods.agent.session.resume
  const { configOptions } = await connection.agent.request(method, {
    ...where,
    sessionId: options.resume,
  })
  return { id: options.resume, configOptions }
}

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

const LOOKING = new Set(['read', 'search', 'think'])
const EDITING = new Set(['edit', 'delete', 'move'])

export async function isAllowed(use: ToolUse, options: OpenConversation): Promise<boolean> {
  if (options.permissions === 'all' || (await isAllowedByRules(use, options))) return true
  return (await options.decide?.(requestAbout(use))) ?? false
}

async function isAllowedByRules(
  use: ToolUse,
  { permissions, allow, cwd, branch }: OpenConversation,
): Promise<boolean> {
  const { kind = 'other', command, paths } = use
  const rules = { permissions, allow, cwd, ...defined({ branch }) }
  const request = requestAbout(use)
  if (command !== undefined) return isPermitted(request, rules)
  if (LOOKING.has(kind)) return permissions === 'edits'
  // The path that a tool of another kind names need not be what it changes.
  if (!EDITING.has(kind) || paths.length === 0) return false
  const allowed = await Promise.all(paths.map((path) => isPermitted({ ...request, path }, rules)))
  return allowed.every(Boolean)
}

function requestAbout({ name, title, command, cwd, paths }: ToolUse): PermissionRequest {
  const words = oneLine(title ?? command ?? paths[0] ?? name)
  return {
    tool: name,
    title: shorten(words === '' ? name : words, 200),
    ...defined({ command, cwd, path: paths[0] }),
  }
}

export function answer(
  isYes: boolean,
  options: readonly PermissionOption[],
): RequestPermissionResponse {
  const kinds = isYes ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0]
  return {
    outcome:
      chosen === undefined
        ? { outcome: 'cancelled' }
        : { outcome: 'selected', optionId: chosen.optionId },
  }
}
