// The fold of a run log. Pure.
import type { Usage } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { asCount } from '../text/json-fields.ts'
import {
  type DelegateStatusChange,
  type EndOfRun,
  type UnstartedTasks,
  type RunEntryData,
  type RunEntryKind,
  type RunEvent,
  hasNeededFields,
  readUnstartedTasks,
} from './entries.ts'

/** Tokens by model. */
export type UsageByModel = Readonly<Record<string, Usage>>

export interface Attempt extends Readonly<
  Partial<
    Pick<
      RunEntryData['attempt.ended'],
      'outcome' | 'reason' | 'commit' | 'summary' | 'kept' | 'added'
    >
  >
> {
  readonly started: RunEntryData['attempt.started']
  readonly at: string
  readonly endedAt?: string
  readonly spent: UsageByModel
  readonly requests: number
  readonly seconds: number
  readonly compactions: number
}

export interface ConversationRecord {
  readonly opened: RunEntryData['conversation.opened']
  readonly id?: string
  readonly model?: string
  readonly window?: number
  readonly isEnded: boolean
  readonly notLoaded: number
}

export interface RunState {
  readonly started: RunEntryData['run.started']
  readonly startedAt: string
  readonly lastAt: string
  readonly runner: RunEntryData['run.started']['runner']
  readonly sessions: readonly (RunEntryData['session.opened'] & {
    readonly isClosed: boolean
    readonly handoff?: string
  })[]
  readonly conversations: readonly ConversationRecord[]
  readonly attempts: readonly Attempt[]
  readonly parked: ReadonlyMap<string, RunEntryData['task.parked']>
  readonly delegates: readonly RunEntryData['delegate.begun'][]
  /** The last status change of a delegate, unless it was restarted since. */
  readonly move?: DelegateStatusChange
  readonly ended?: EndOfRun
  readonly neverBegun?: UnstartedTasks
  readonly isTreeReady: boolean
  /** The reset time of the usage limit it waits for. */
  readonly waitsUntil?: string
  /** Excludes the time when no process ran it. */
  readonly seconds: number
}

/** The wait for a limit whose reset time is unknown. */
export const UNKNOWN_LIMIT_MS = 15 * 60_000

const ENDS_WAIT: ReadonlySet<RunEntryKind> = new Set([
  'run.resumed',
  'run.ended',
  'attempt.started',
  'attempt.ended',
  'conversation.opened',
  'context.compacted',
  'delegate.moved',
])

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Folds the entries of a log, or the events that stand for them. Undefined without a `run.started`; never throws. */
export function foldRun(all: readonly RunEvent<RunEntryKind>[]): RunState | undefined {
  const entries = all.filter(hasNeededFields)
  const first = entries.find((entry) => entry.kind === 'run.started')
  if (first === undefined) return undefined
  const sessions = new Map<string, Mutable<RunState['sessions'][number]>>()
  const conversations = new Map<number, Mutable<ConversationRecord>>()
  const attempts = new Map<string, Mutable<Attempt>>()
  const parked = new Map<string, RunEntryData['task.parked']>()
  const delegates = new Map<string, RunEntryData['delegate.begun']>()
  let end: Pick<RunState, 'ended' | 'neverBegun' | 'move'> = {}
  let { runner } = first.data
  let isReady = false
  let seconds = 0
  let processStartedAt = first.at
  let lastAt = first.at
  let workedUntil = first.at
  let waitsUntil: string | undefined
  let isTurnLimited = false
  for (const entry of entries) {
    const { at } = entry
    switch (entry.kind) {
      case 'run.resumed':
        runner = entry.data.runner
        end = {}
        // The time between a crash and the resume does not count.
        seconds += secondsBetween(processStartedAt, workedUntil)
        processStartedAt = at
        break
      case 'tree.ready':
        isReady = true
        break
      case 'session.opened':
        sessions.set(entry.data.session, { ...entry.data, isClosed: false })
        break
      case 'session.closed': {
        const { session, handoff } = entry.data
        change(sessions, session, { isClosed: true, ...defined({ handoff }) })
        break
      }
      case 'conversation.opened':
        conversations.set(entry.data.number, { opened: entry.data, isEnded: false, notLoaded: 0 })
        break
      case 'conversation.started': {
        const { number, conversation, ...rest } = entry.data
        change(conversations, number, { id: conversation, ...rest })
        break
      }
      case 'conversation.ended': {
        const { number, profilesNotLoaded = 0 } = entry.data
        change(conversations, number, { isEnded: true, notLoaded: profilesNotLoaded })
        break
      }
      case 'attempt.started': {
        const counts = { spent: {}, requests: 0, seconds: 0, compactions: 0 }
        attempts.set(entry.data.attempt, { started: entry.data, at, ...counts })
        parked.delete(entry.data.task.id)
        break
      }
      case 'turn.ended': {
        const { attempt: id, requests, spent } = entry.data
        const attempt = attempts.get(id)
        if (attempt !== undefined) {
          attempt.spent = addUsageByModel(attempt.spent, sanitizeUsage(spent))
          attempt.requests += asCount(requests) ?? 0
        }
        // The turn that hit the limit ends before the wait begins.
        if (!isTurnLimited) waitsUntil = undefined
        isTurnLimited = false
        break
      }
      case 'context.compacted': {
        const attempt = attempts.get(entry.data.attempt)
        if (attempt !== undefined) attempt.compactions += 1
        break
      }
      case 'limit.reached':
        waitsUntil = limitResetTime(at, entry.data.resetsAt)
        isTurnLimited = true
        break
      case 'attempt.ended': {
        const { attempt: id, outcome, reason, commit, summary, kept, added } = entry.data
        change(attempts, id, {
          ...defined({ outcome, reason, commit, summary, kept, added }),
          endedAt: at,
          seconds: secondsBetween(attempts.get(id)?.at ?? at, at),
        })
        break
      }
      case 'work.kept':
        change(attempts, entry.data.attempt, { kept: entry.data.kept })
        break
      case 'task.parked':
        parked.set(entry.data.task, entry.data)
        break
      case 'delegate.begun':
        delegates.set(entry.data.delegate, entry.data)
        break
      case 'delegate.moved':
        end = { ...end, move: entry.data }
        break
      case 'run.ended': {
        const { move } = end
        const neverBegun = readUnstartedTasks(entry.data.neverBegun)
        end = { ended: entry.data.how, ...defined({ move, neverBegun }) }
        break
      }
    }
    if (ENDS_WAIT.has(entry.kind)) waitsUntil = undefined
    lastAt = at
    // Entries after the end, such as a merge, do not count as work.
    if (end.ended === undefined || entry.kind === 'run.ended') workedUntil = at
  }
  return {
    started: first.data,
    startedAt: first.at,
    lastAt,
    runner,
    sessions: [...sessions.values()],
    conversations: [...conversations.values()],
    attempts: [...attempts.values()],
    parked,
    delegates: [...delegates.values()],
    seconds: seconds + secondsBetween(processStartedAt, workedUntil),
    isTreeReady: isReady,
    ...end,
    ...defined({ waitsUntil }),
  }
}

function change<K, V extends object>(map: ReadonlyMap<K, V>, key: K, fields: Partial<V>): void {
  const known = map.get(key)
  if (known !== undefined) Object.assign(known, fields)
}

function limitResetTime(at: string, resetsAt = ''): string | undefined {
  return [new Date(resetsAt), new Date(Date.parse(at) + UNKNOWN_LIMIT_MS)]
    .find((time) => !Number.isNaN(time.getTime()))
    ?.toISOString()
}

/** A harness may report something other than numbers. */
function sanitizeUsage(spent: UsageByModel): UsageByModel {
  const usage = (used: Partial<Usage> | undefined): Usage => ({
    input: asCount(used?.input) ?? 0,
    cacheWritten: asCount(used?.cacheWritten) ?? 0,
    cacheRead: asCount(used?.cacheRead) ?? 0,
    output: asCount(used?.output) ?? 0,
  })
  return Object.fromEntries(Object.entries(spent).map(([model, used]) => [model, usage(used)]))
}

export function addUsageByModel(a: UsageByModel, b: UsageByModel): UsageByModel {
  const sum: Record<string, Usage> = { ...a }
  // A model may be named like an inherited property, such as `constructor`.
  for (const [model, used] of Object.entries(b))
    sum[model] = sumUsage(Object.hasOwn(sum, model) ? sum[model]! : ZERO_USAGE, used)
  return sum
}

export function sumAttemptUsage(attempts: readonly Pick<Attempt, 'spent'>[]): UsageByModel {
  return attempts.reduce<UsageByModel>((sum, { spent }) => addUsageByModel(sum, spent), {})
}

export const ZERO_USAGE: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

export function sumUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheWritten: a.cacheWritten + b.cacheWritten,
    cacheRead: a.cacheRead + b.cacheRead,
    output: a.output + b.output,
  }
}

export function totalTokens({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

function secondsBetween(from: string, to: string): number {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0
}
