import { NO_USAGE, subtractUsage, tokensOf } from '../../contract/usage.ts'
import type { Usage } from '../../../session/entries.ts'
import type { HarnessEvent, TurnEnded } from '../../contract/drive.ts'
import {
  type Json,
  countOf,
  nameOf,
  objectOf,
  parseJson,
  textOf,
} from '../../../text/json-fields.ts'
import { type ToolUse, toolUseOf } from './items.ts'
import { defined } from '../../../text/defined.ts'
import { cleanText, shorten } from '../../../text/clean.ts'

export interface ThreadState {
  readonly thread: string
  readonly model?: string
  readonly isRunning: boolean
  readonly turn?: string
  readonly counted: Readonly<Record<string, Usage>>
  readonly context?: number
  readonly window?: number
  readonly compactsAt?: number
  readonly compacting?: { readonly tokensBefore?: number }
  /**
   * `isUntold`: the end of the use is not reported, after an interruption or in a thread of a
   * sub-agent.
   */
  readonly tools: Readonly<Record<string, ToolUse & { readonly isUntold?: boolean }>>
  readonly said?: string
  readonly limits: Limits
  readonly isLimitTold: boolean
}

export interface Translated {
  readonly state: ThreadState
  readonly events: readonly HarnessEvent[]
}

export function threadState(thread: string, model?: string, compactsAt?: number): ThreadState {
  return {
    thread,
    ...defined({ model, compactsAt }),
    isRunning: false,
    counted: {},
    tools: {},
    limits: {},
    isLimitTold: false,
  }
}

export function withTurn(state: ThreadState): ThreadState {
  const { said: _, ...rest } = state
  return { ...rest, isRunning: true, isLimitTold: false }
}

export function translate(state: ThreadState, method: string, params: Json): Translated {
  const read = Object.hasOwn(METHODS, method) ? METHODS[method]! : undefined
  return read?.(state, params) ?? { state, events: [] }
}

export function endTurn(state: ThreadState, how: TurnEnded['how'], failure?: string): Translated {
  const { compacting: _, ...rest } = state
  const ended: TurnEnded = { type: 'turn ended', how, ...defined({ said: state.said, failure }) }
  const closed: ThreadState = { ...rest, isRunning: false }
  // A command may outlive a completed turn and report its end in a later one.
  if (how === 'completed') return { state: closed, events: [ended] }
  const open = Object.entries(state.tools).filter(([, { isUntold }]) => isUntold !== true)
  const tools = Object.fromEntries(
    Object.entries(state.tools).map(([id, use]) => [id, { ...use, isUntold: true }]),
  )
  return {
    state: { ...closed, tools },
    events: [...open.map(([id, use]) => toolEvent(id, use, 'failed')), ended],
  }
}

type Reader = (state: ThreadState, params: Json) => Translated | undefined

const METHODS: Readonly<Record<string, Reader>> = {
  'item/started': itemStarted,
  'item/completed': itemCompleted,
  'item/agentMessage/delta': ofThisThread((state, params) => {
    const text = params.delta
    return typeof text === 'string' && text !== ''
      ? { state, events: [{ type: 'delta', text }] }
      : undefined
  }),
  'thread/tokenUsage/updated': tokensUsed,
  'account/rateLimits/updated': (state, params) =>
    quietly({ ...state, limits: withLimits(state.limits, params) }),
  'model/rerouted': ofThisThread((state, params) => {
    const model = nameOf(params.toModel)
    return model === undefined ? undefined : quietly({ ...state, model })
  }),
  error: ofThisThread((state, params) =>
    params.willRetry === true ? undefined : limitTold(state, objectOf(params.error)),
  ),
  'turn/started': ofThisThread((state, params) => {
    const turn = nameOf(objectOf(params.turn)?.id)
    return turn === undefined ? undefined : quietly({ ...state, turn })
  }),
  'turn/completed': ofThisThread(turnCompleted),
}

// Threads of sub-agents use the same connection.
function ofThisThread(read: Reader): Reader {
  return (state, params) => (params.threadId === state.thread ? read(state, params) : undefined)
}

function quietly(state: ThreadState): Translated {
  return { state, events: [] }
}

function itemStarted(state: ThreadState, params: Json): Translated | undefined {
  const item = objectOf(params.item) ?? {}
  const isOurs = params.threadId === state.thread
  if (isOurs && item.type === 'contextCompaction')
    return quietly({ ...state, compacting: defined({ tokensBefore: state.context }) })
  const id = nameOf(item.id)
  const use = toolUseOf(item)
  if (id === undefined || use === undefined) return undefined
  // A request to allow a patch only names its item.
  if (!isOurs)
    return quietly({ ...state, tools: { ...state.tools, [id]: { ...use, isUntold: true } } })
  return {
    state: { ...state, tools: { ...state.tools, [id]: use } },
    events: [toolEvent(id, use, 'started')],
  }
}

function itemCompleted(state: ThreadState, params: Json): Translated | undefined {
  const item = objectOf(params.item) ?? {}
  const isOurs = params.threadId === state.thread
  if (isOurs && item.type === 'agentMessage') return messageSaid(state, textOf(item.text))
  if (isOurs && item.type === 'contextCompaction') return compacted(state, nameOf(item.id))
  const id = nameOf(item.id)
  const use = toolUseOf(item)
  if (id === undefined || use === undefined) return undefined
  const { [id]: begun, ...tools } = state.tools
  if (!isOurs || begun?.isUntold === true) return quietly({ ...state, tools })
  // Some kinds have no status and cannot fail.
  const isDone = item.status === 'completed' || item.status === undefined
  const end = toolEvent(id, use, isDone ? 'completed' : 'failed', outputOf(item))
  return {
    state: { ...state, tools },
    events: begun === undefined ? [toolEvent(id, use, 'started'), end] : [end],
  }
}

function messageSaid(state: ThreadState, said: string | undefined): Translated | undefined {
  return said === undefined
    ? undefined
    : { state: { ...state, said }, events: [{ type: 'text', text: said }] }
}

function toolEvent(
  id: string,
  { name, command, path }: ToolUse,
  status: 'started' | 'completed' | 'failed',
  output?: string,
): HarnessEvent {
  return { type: 'tool', id, name, status, ...defined({ command, path, output }) }
}

const LONGEST_OUTPUT = 4000

function outputOf(item: Json): string | undefined {
  const output = textOf(item.aggregatedOutput) ?? textOf(objectOf(item.error)?.message)
  return output?.slice(-LONGEST_OUTPUT).toWellFormed()
}

/**
 * The same figures come several times, so usage is the difference of totals. During a compaction
 * the last request is the summary's.
 */
function tokensUsed(state: ThreadState, params: Json): Translated | undefined {
  const told = toldUsage(params)
  const thread = nameOf(params.threadId)
  if (told === undefined || thread === undefined) return undefined
  const isOurs = thread === state.thread
  const before = state.counted[thread] ?? usedBefore(state, params, told)
  const spent = difference(told.total, before)
  const figures = isOurs ? defined({ context: told.context, window: told.window }) : {}
  const next: ThreadState = {
    ...state,
    ...figures,
    counted: { ...state.counted, [thread]: told.total },
  }
  const isNew = isOurs && (next.context !== state.context || next.window !== state.window)
  if (spent === undefined && (!isNew || state.compacting !== undefined)) return quietly(next)
  return {
    state: next,
    events: [usageEvent(next, isOurs && state.compacting === undefined, spent)],
  }
}

function usageEvent(state: ThreadState, isFilling: boolean, spent?: Usage): HarnessEvent {
  const { model, context, window, compactsAt } = state
  const figures = isFilling ? defined({ context, window, point: pointIn(window, compactsAt) }) : {}
  return { type: 'usage', ...defined({ spent, model }), ...figures }
}

/**
 * The total of a resumed or forked thread starts with earlier usage; a resumed thread first reports
 * a past turn.
 */
function usedBefore(state: ThreadState, params: Json, { total, last }: ToldUsage): Usage {
  const isPast = params.threadId === state.thread && params.turnId !== state.turn
  return isPast ? total : (difference(total, last) ?? NO_USAGE)
}

function compacted(state: ThreadState, boundary: string | undefined): Translated {
  const { compacting, ...rest } = state
  const compaction: HarnessEvent = {
    type: 'compaction',
    ...defined({ tokensBefore: compacting?.tokensBefore, boundary }),
  }
  return { state: rest, events: [compaction, usageEvent(state, true)] }
}

function limitTold(state: ThreadState, error: Json | undefined): Translated | undefined {
  if (state.isLimitTold || !isLimit(error)) return undefined
  const limit: HarnessEvent = {
    type: 'limit',
    message: failureOf(error),
    ...defined({ resetsAt: resetOf(state.limits) }),
  }
  return { state: { ...state, isLimitTold: true }, events: [limit] }
}

function turnCompleted(state: ThreadState, params: Json): Translated | undefined {
  if (!state.isRunning) return undefined
  const turn = objectOf(params.turn)
  const error = objectOf(turn?.error)
  const told = limitTold(state, error) ?? quietly(state)
  const how = turn?.status
  const ended =
    how === 'completed' || how === 'interrupted'
      ? endTurn(told.state, how)
      : endTurn(told.state, 'failed', failureOf(error))
  return { state: ended.state, events: [...told.events, ...ended.events] }
}

export interface ToldUsage {
  readonly total: Usage
  readonly last: Usage
  readonly context?: number
  readonly window?: number
}

export function toldUsage(params: Json): ToldUsage | undefined {
  const told = objectOf(params.tokenUsage)
  const total = objectOf(told?.total)
  const last = objectOf(told?.last)
  if (total === undefined || last === undefined) return undefined
  const context = countOf(last.totalTokens)
  const window = countOf(told?.modelContextWindow)
  return {
    total: usageOf(total),
    last: usageOf(last),
    ...defined({ context, window }),
  }
}

// Its input includes what was read from and written to the cache.
function usageOf(told: Json): Usage {
  const cacheRead = countOf(told.cachedInputTokens) ?? 0
  const cacheWritten = countOf(told.cacheWriteInputTokens) ?? 0
  const input = Math.max(0, (countOf(told.inputTokens) ?? 0) - cacheRead - cacheWritten)
  return { input, cacheWritten, cacheRead, output: countOf(told.outputTokens) ?? 0 }
}

/** Codex reports 95 % of the model's window, and compacts at 90 % at the latest. */
const TOLD_SHARE = 0.95
const COMPACTS_AT_SHARE = 0.9

export function pointIn(
  window: number | undefined,
  configured: number | undefined,
): number | undefined {
  const usual =
    window === undefined ? undefined : Math.floor((window / TOLD_SHARE) * COMPACTS_AT_SHARE)
  const points = [usual, configured].filter((point) => point !== undefined && point > 0)
  return points.length === 0 ? undefined : Math.min(...(points as number[]))
}

/** A total that shrank counts anew. */
export function difference(now: Usage, before: Usage): Usage | undefined {
  const spent = subtractUsage(now, before)
  return tokensOf(spent) > 0 ? spent : undefined
}

export function failureOf(error: Json | undefined): string {
  const message = textOf(error?.message)
  const details = textOf(error?.additionalDetails)
  // The server's answer is usually an object around one sentence.
  const told = message === undefined ? undefined : (messageIn(message) ?? message)
  return shorten(cleanText([told ?? 'the turn failed', details].filter(Boolean).join('\n')), 2000)
}

function messageIn(text: string): string | undefined {
  const body = objectOf(parseJson(text))
  return textOf(objectOf(body?.error)?.message) ?? textOf(body?.message) ?? textOf(body?.detail)
}

export function isLimit(error: Json | undefined): boolean {
  const info = error?.codexErrorInfo
  if (info === 'usageLimitExceeded' || info === 'rateLimitExceeded') return true
  const attempts = objectOf(objectOf(info)?.responseTooManyFailedAttempts)
  return attempts?.httpStatusCode === 429
}

interface LimitWindow {
  readonly usedPercent: number
  readonly resetsAt?: string
}

export type Limits = Readonly<Record<string, LimitWindow>>

export function withLimits(before: Limits, params: Json): Limits {
  const told = objectOf(params.rateLimits)
  const windows = ['primary', 'secondary'].flatMap((name) => {
    const window = objectOf(told?.[name])
    const usedPercent = countOf(window?.usedPercent)
    if (usedPercent === undefined) return []
    const resetsAt = momentOf(window?.resetsAt)
    return [[name, { usedPercent, ...defined({ resetsAt }) }] as const]
  })
  return { ...before, ...Object.fromEntries(windows) }
}

export function resetOf(limits: Limits): string | undefined {
  return Object.values(limits)
    .filter(({ usedPercent }) => usedPercent >= 100)
    .flatMap(({ resetsAt }) => resetsAt ?? [])
    .toSorted()
    .at(-1)
}

function momentOf(seconds: unknown): string | undefined {
  const count = countOf(seconds)
  const date = new Date((count ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
