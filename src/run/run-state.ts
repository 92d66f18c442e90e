// What the log of a run amounts to. Pure.
import type { Usage } from '../session/entries.ts'
import { countOf } from '../text/json-fields.ts'
import {
  type AttemptOutcome,
  type DelegateMove,
  type EndOfRun,
  type NeverBegun,
  type RunEntry,
  type RunEntryData,
  isWhole,
  neverBegunIn,
} from './entries.ts'
import { defined } from '../text/defined.ts'

export interface Attempt {
  readonly started: RunEntryData['attempt.started']
  readonly at: string
  readonly endedAt?: string
  readonly outcome?: AttemptOutcome
  readonly reason?: string
  readonly commit?: string
  readonly summary?: string
  /** Where what it left is kept. */
  readonly kept?: string
  readonly added?: number
  readonly spent: Readonly<Record<string, Usage>>
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
  readonly costUsd?: number
  readonly notLoaded: number
}

export interface RunState {
  readonly started: RunEntryData['run.started']
  readonly startedAt: string
  readonly lastAt: string
  /** The last process that ran it. */
  readonly runner: RunEntryData['run.started']['runner']
  readonly sessions: readonly (RunEntryData['session.opened'] & {
    readonly isClosed: boolean
    readonly handoff?: string
  })[]
  readonly conversations: readonly ConversationRecord[]
  readonly attempts: readonly Attempt[]
  readonly parked: ReadonlyMap<string, RunEntryData['task.parked']>
  /** The delegates it has given tasks to. */
  readonly delegates: readonly RunEntryData['delegate.begun'][]
  /** Where one that is a delegate itself has come to, unless it was begun again since. */
  readonly move?: DelegateMove
  readonly ended?: EndOfRun
  /** What it left as it was, when it ended. */
  readonly neverBegun?: NeverBegun
  readonly isReady: boolean
  /** It came to a usage limit last, which it waits for until then. */
  readonly waitsUntil?: string
  /** Seconds in which somebody ran it. */
  readonly seconds: number
}

/** How long to wait for a limit whose end nobody tells. */
export const UNKNOWN_LIMIT_MS = 15 * 60_000

const AFTER_A_WAIT: ReadonlySet<RunEntry['kind']> = new Set([
  'run.resumed',
  'run.ended',
  'attempt.started',
  'attempt.ended',
  'conversation.opened',
  'context.compacted',
  'delegate.moved',
])

type Changing<T> = { -readonly [K in keyof T]: T[K] }

/** Undefined when the log does not even say that it started. Never throws on any entries. */
export function foldRun(all: readonly RunEntry[]): RunState | undefined {
  const entries = all.filter(isWhole)
  const first = entries.find((entry) => entry.kind === 'run.started')
  if (first === undefined) return undefined
  const sessions = new Map<string, Changing<RunState['sessions'][number]>>()
  const conversations = new Map<number, Changing<ConversationRecord>>()
  const attempts = new Map<string, Changing<Attempt>>()
  const parked = new Map<string, RunEntryData['task.parked']>()
  const delegates = new Map<string, RunEntryData['delegate.begun']>()
  let move: DelegateMove | undefined
  let runner = first.data.runner
  let ended: EndOfRun | undefined
  let left: NeverBegun | undefined
  let seconds = 0
  let spellFrom = first.at
  let lastAt = first.at
  let workedUntil = first.at
  let waitsUntil: string | undefined
  let isTurnLimited = false
  for (const entry of entries) {
    if (entry.kind === 'run.resumed') {
      runner = entry.data.runner
      ended = undefined
      left = undefined
      move = undefined
      // What lies between a crash and going on is nobody's work.
      seconds += secondsBetween(spellFrom, workedUntil)
      spellFrom = entry.at
    } else if (entry.kind === 'session.opened') {
      sessions.set(entry.data.session, { ...entry.data, isClosed: false })
    } else if (entry.kind === 'session.closed') {
      const session = sessions.get(entry.data.session)
      if (session !== undefined)
        Object.assign(
          session,
          { isClosed: true },
          entry.data.handoff === undefined ? {} : { handoff: entry.data.handoff },
        )
    } else if (entry.kind === 'conversation.opened') {
      conversations.set(entry.data.number, { opened: entry.data, isEnded: false, notLoaded: 0 })
    } else if (entry.kind === 'conversation.started') {
      const { number, conversation, ...rest } = entry.data
      const known = conversations.get(number)
      if (known !== undefined) Object.assign(known, { id: conversation, ...rest })
    } else if (entry.kind === 'conversation.ended') {
      const known = conversations.get(entry.data.number)
      if (known !== undefined)
        Object.assign(known, { isEnded: true, notLoaded: entry.data.profilesNotLoaded ?? 0 })
    } else if (entry.kind === 'attempt.started') {
      attempts.set(entry.data.attempt, {
        started: entry.data,
        at: entry.at,
        spent: {},
        requests: 0,
        seconds: 0,
        compactions: 0,
      })
      // A task that is taken up again is parked no more.
      parked.delete(entry.data.task.id)
    } else if (entry.kind === 'turn.ended') {
      const attempt = attempts.get(entry.data.attempt)
      if (attempt !== undefined) addTurn(attempt, entry.data)
      const known = conversations.get(entry.data.conversation)
      if (known !== undefined && entry.data.costUsd !== undefined)
        known.costUsd = entry.data.costUsd
    } else if (entry.kind === 'context.compacted') {
      const attempt = attempts.get(entry.data.attempt)
      if (attempt !== undefined) attempt.compactions += 1
    } else if (entry.kind === 'attempt.ended') {
      const { attempt: id, ...rest } = entry.data
      const attempt = attempts.get(id)
      if (attempt !== undefined) {
        const { outcome, reason, commit, summary, kept, added } = rest
        Object.assign(attempt, defined({ outcome, reason, commit, summary, kept, added }), {
          endedAt: entry.at,
        })
        attempt.seconds = secondsBetween(attempt.at, entry.at)
      }
    } else if (entry.kind === 'work.kept') {
      const attempt = attempts.get(entry.data.attempt)
      if (attempt !== undefined) attempt.kept = entry.data.kept
    } else if (entry.kind === 'task.parked') {
      parked.set(entry.data.task, entry.data)
    } else if (entry.kind === 'delegate.begun') {
      delegates.set(entry.data.delegate, entry.data)
    } else if (entry.kind === 'delegate.moved') {
      move = entry.data
    } else if (entry.kind === 'run.ended') {
      ended = entry.data.how
      left = neverBegunIn(entry.data.neverBegun)
    }
    if (entry.kind === 'limit.reached') {
      waitsUntil = endOfLimit(entry.at, entry.data.resetsAt)
      isTurnLimited = true
    } else if (entry.kind === 'turn.ended') {
      // The turn that came to the limit ends before the wait, the next one behind it.
      if (!isTurnLimited) waitsUntil = undefined
      isTurnLimited = false
    } else if (AFTER_A_WAIT.has(entry.kind)) waitsUntil = undefined
    lastAt = entry.at
    // What comes behind its end, as a merge does, is not its work.
    if (ended === undefined || entry.kind === 'run.ended') workedUntil = entry.at
  }
  seconds += secondsBetween(spellFrom, workedUntil)
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
    seconds,
    isReady: entries.some(({ kind }) => kind === 'tree.ready'),
    ...defined({ move, ended, neverBegun: left, waitsUntil }),
  }
}

function endOfLimit(at: string, told: string | undefined): string | undefined {
  const until = [new Date(told ?? ''), new Date(Date.parse(at) + UNKNOWN_LIMIT_MS)].find(
    (time) => !Number.isNaN(time.getTime()),
  )
  return until?.toISOString()
}

function addTurn(attempt: Changing<Attempt>, turn: RunEntryData['turn.ended']): void {
  attempt.spent = addSpent(
    attempt.spent,
    Object.fromEntries(Object.entries(turn.spent).map(([model, used]) => [model, counted(used)])),
  )
  attempt.requests += countOf(turn.requests) ?? 0
}

/** What a harness told of its tokens is not all of it numbers that can be added. */
function counted(used: Partial<Usage> | undefined): Usage {
  const count = (name: keyof Usage) => countOf(used?.[name]) ?? 0
  return {
    input: count('input'),
    cacheWritten: count('cacheWritten'),
    cacheRead: count('cacheRead'),
    output: count('output'),
  }
}

export function addSpent(
  a: Readonly<Record<string, Usage>>,
  b: Readonly<Record<string, Usage>>,
): Readonly<Record<string, Usage>> {
  const sum: Record<string, Usage> = { ...a }
  // A model may be called anything, also as something that every object has.
  for (const [model, used] of Object.entries(b))
    sum[model] = addUsage(Object.hasOwn(sum, model) ? sum[model]! : NOTHING, used)
  return sum
}

export const NOTHING: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheWritten: a.cacheWritten + b.cacheWritten,
    cacheRead: a.cacheRead + b.cacheRead,
    output: a.output + b.output,
  }
}

export function totalOf({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

function secondsBetween(from: string, to: string): number {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0
}
