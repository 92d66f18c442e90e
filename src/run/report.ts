// What a run, each of its sessions and each of its tasks cost, and what one conversation per task would have.
import type { Usage } from '../session/entries.ts'
import type {
  Comparison,
  ParallelReport,
  RunReport,
  SessionReport,
  Spend,
  TaskReport,
} from './entries.ts'
import { type OwnPrice, PRICES_OF, type Price, costOf, priceOf } from '../context/budget/prices.ts'
import { type Attempt, NOTHING, type RunState, addSpent, addUsage, totalOf } from './run-state.ts'
import { defined } from '../text/defined.ts'
import { estimateTokens } from '../text/tokens.ts'

export interface ReportOptions {
  readonly run: string
  readonly prices: readonly OwnPrice[]
  /** Whether somebody runs it now. */
  readonly isRunning: boolean
  readonly commits: number
}

/** What a run cost and what came of it, from its log. */
export function reportFrom(
  state: RunState,
  { run, prices, isRunning, commits }: ReportOptions,
): RunReport {
  const sessions = state.sessions.map(({ session, name }): SessionReport => {
    const own = state.attempts.filter(({ started }) => started.session === session)
    const tasks = taskReports(state, own, prices)
    return {
      session,
      name,
      conversations: state.conversations.filter(({ opened }) => opened.session === session).length,
      tasks,
      spend: tasks.reduce((sum, { spend }) => addSpend(sum, spend), FREE),
      seconds: tasks.reduce((sum, { seconds }) => sum + seconds, 0),
    }
  })
  const spent = state.attempts.reduce((sum, attempt) => addSpent(sum, attempt.spent), {})
  const models = Object.keys(spent)
  return {
    run,
    harness: state.started.harness,
    models,
    how: isRunning ? 'running' : (state.ended ?? 'interrupted'),
    startedAt: state.startedAt,
    seconds: state.seconds,
    sessions,
    ...defined({ neverBegun: state.neverBegun }),
    spend: spendOf(spent, prices),
    prices: pricesTold(models, prices),
    compared: compare(state, prices),
    ...defined({ backlog: state.started.options.backlog }),
    ...(state.started.isInPlace ? {} : { branch: state.started.branch }),
    commits,
  }
}

/** Of a run that had nothing to do, and so never was. */
export function emptyReport(harness: string): RunReport {
  return {
    run: '',
    harness,
    models: [],
    how: 'nothing to do',
    startedAt: new Date().toISOString(),
    seconds: 0,
    sessions: [],
    spend: FREE,
    prices: pricesTold([], []),
    compared: { boilerplateAvoided: 0, historyReread: 0, savedUsd: 0, profilesNotLoaded: 0 },
    commits: 0,
  }
}

const FREE: Spend = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0, usd: 0 }

function taskReports(
  state: RunState,
  attempts: readonly Attempt[],
  prices: readonly OwnPrice[],
): readonly TaskReport[] {
  const tasks = new Map(attempts.map(({ started }) => [started.task.id, started.task]))
  return [...tasks.values()].map((task): TaskReport => {
    const own = attempts.filter(({ started }) => started.task.id === task.id)
    const last = own.at(-1)!
    const added = own.flatMap((attempt) => attempt.added ?? [])
    // Only where the last attempt was: what became of it later is no outcome of this session.
    const isLast = state.attempts.findLast(({ started }) => started.task.id === task.id) === last
    const parked = isLast ? state.parked.get(task.id) : undefined
    const outcome =
      last.outcome === 'done'
        ? 'done'
        : last.outcome === 'blocked'
          ? 'blocked'
          : parked !== undefined
            ? 'parked'
            : 'open'
    const kept = outcome === 'done' ? undefined : (parked?.kept ?? last.kept)
    const reason = outcome === 'done' ? undefined : (parked?.reason ?? last.reason)
    return {
      task,
      outcome,
      attempts: own.length,
      spend: spendOf(
        own.reduce((sum, attempt) => addSpent(sum, attempt.spent), {}),
        prices,
      ),
      seconds: own.reduce((sum, { seconds }) => sum + seconds, 0),
      compactions: own.reduce((sum, { compactions }) => sum + compactions, 0),
      ...defined({ reason, commit: last.commit }),
      ...(added.length === 0 ? {} : { added: added.reduce((sum, tokens) => sum + tokens, 0) }),
      ...defined({ kept }),
    }
  })
}

function pricesTold(models: readonly string[], prices: readonly OwnPrice[]): string {
  const unknown = models.filter((model) => priceOf(model, prices) === undefined)
  if (unknown.length > 0)
    return `unknown for ${unknown.join(', ')}; prices in .sessions/config.yaml tell them`
  const from = new Set(models.flatMap((model) => priceOf(model, prices)?.from ?? []))
  return from.size === 0 ? `price list of ${PRICES_OF}` : [...from].join(', ')
}

/** What was used of all models together, and what it came to. Without `usd` where the price of one is not known. */
export function spendOf(
  spent: Readonly<Record<string, Usage>>,
  prices: readonly OwnPrice[],
): Spend {
  const sum = Object.values(spent).reduce(addUsage, NOTHING)
  if (totalOf(sum) === 0) return { ...sum, usd: 0 }
  const used = Object.fromEntries(
    Object.entries(spent).map(([model, usage]) => [model, { ...usage, cacheWrittenHour: 0 }]),
  )
  const cost = costOf(used, prices, '')
  return cost === undefined ? sum : { ...sum, usd: cost.value }
}

export function addSpend(a: Spend, b: Spend): Spend {
  const sum = addUsage(a, b)
  return a.usd === undefined || b.usd === undefined ? sum : { ...sum, usd: a.usd + b.usd }
}

// A run against a conversation for each task: the set-up and the start that were not paid again, and the history that was read again.

/** One conversation of a run in that comparison. */
export interface ComparedConversation {
  readonly number: number
  readonly session: string
  readonly model?: string
  /** Its attempts, in their order. */
  readonly own: readonly Attempt[]
  readonly setup: number
  readonly tasks: number
  /** Tokens with which it began. */
  readonly start: number
  readonly boilerplateAvoided: number
  /** What each later attempt read again of the tasks before it. */
  readonly reread: readonly number[]
  readonly profilesNotLoaded: number
}

export function compareConversations({
  attempts,
  conversations,
}: RunState): readonly ComparedConversation[] {
  return conversations.map(({ opened: { number, session, setup }, model, notLoaded }) => {
    const own = attempts.filter(({ started }) => started.conversation === number)
    const tasks = new Set(own.map(({ started }) => started.task.id)).size
    const start = startOf(own)
    // What earlier tasks left in the context, read with each request. The start of a conversation would be read either way.
    const reread = own.flatMap(({ started: { isFirst, context }, requests }) => {
      return isFirst || context === undefined ? [] : [Math.max(0, context - start) * requests]
    })
    const avoided = boilerplateAvoided([{ setup, tasks }])
    const known = typeof model === 'string' ? { model } : {}
    return {
      number,
      session,
      ...known,
      own,
      setup,
      tasks,
      start,
      boilerplateAvoided: avoided,
      reread,
      profilesNotLoaded: notLoaded,
    }
  })
}

/** What a later task saved by going on: a fresh conversation writes its start into the cache, where this one read it, and its history. */
export function worthOfStaying(
  start: number,
  history: number,
  price: Pick<Price, 'cacheRead' | 'cacheWrite'>,
): number {
  return start * (price.cacheWrite - price.cacheRead) - history * price.cacheRead
}

export function compare(state: RunState, prices: readonly OwnPrice[]): Comparison {
  const conversations = compareConversations(state)
  let savedUsd: number | undefined = 0
  for (const { model, start, reread } of conversations) {
    const price = priceOf(model ?? state.started.harness, prices)?.price
    for (const history of reread) {
      if (price === undefined || savedUsd === undefined) savedUsd = undefined
      else savedUsd += worthOfStaying(start, history, price) / 1_000_000
    }
  }
  return {
    boilerplateAvoided: sum(conversations.map((one) => one.boilerplateAvoided)),
    historyReread: sum(conversations.flatMap(({ reread }) => reread)),
    profilesNotLoaded: sum(conversations.map((one) => one.profilesNotLoaded)),
    ...defined({ savedUsd }),
  }
}

/** Tokens with which a conversation begins: what it had before its second task, less what the first added. */
function startOf(own: readonly Attempt[]): number {
  const first = own.find(({ started }) => started.isFirst)
  const second = own.find(({ started }) => !started.isFirst && (started.context ?? 0) > 0)
  return Math.max(0, (second?.started.context ?? 0) - (first?.added ?? 0))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

// How much of a run went on side by side. Pure.

/** A stretch of time in which a task was worked on, in milliseconds. */
export interface Stretch {
  readonly task: string
  readonly from: number
  readonly to: number
}

export type ParallelShare = Pick<ParallelReport, 'share' | 'target' | 'savedSeconds'>

/** More than half of the tasks should find another to run beside. */
export const TARGET_SHARE = 0.6

/** `seconds`: how long all of it took, with what is no work on a task. */
export function shareOf(stretches: readonly Stretch[], seconds: number): ParallelShare {
  const real = stretches.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)
  const beside = new Set<string>()
  for (const [index, one] of real.entries()) {
    for (const other of real.slice(index + 1)) {
      if (other.from >= one.to) break
      if (other.task !== one.task) beside.add(one.task).add(other.task)
    }
  }
  const tasks = new Set(stretches.map(({ task }) => task)).size
  const worked = real.reduce((sum, { from, to }) => sum + (to - from), 0) / 1000
  return {
    share: tasks === 0 ? 0 : beside.size / tasks,
    target: TARGET_SHARE,
    savedSeconds: Math.round(worked - seconds),
  }
}

// A run that works on several tasks at once took what its delegates took; of what they did counts what is merged.

export function parallelReport(
  state: RunState,
  parts: readonly RunState[],
  options: ReportOptions,
): RunReport {
  const own = reportFrom(state, options)
  const reports = parts.map((part) => reportFrom(part, options))
  const spent = parts
    .flatMap(({ attempts }) => attempts)
    .reduce(
      (sum, attempt) => addSpent(sum, attempt.spent),
      {} as RunState['attempts'][number]['spent'],
    )
  return {
    ...own,
    models: Object.keys(spent),
    sessions: reports.flatMap(({ sessions }, index) =>
      sessions.map((session) => asMerged(session, parts[index]!)),
    ),
    spend: spendOf(spent, options.prices),
    prices:
      reports.find(({ spend }) => spend.usd === undefined)?.prices ??
      reports[0]?.prices ??
      own.prices,
    compared: reports.map(({ compared }) => compared).reduce(addComparison, own.compared),
    parallel: {
      most: state.started.options.parallel ?? 1,
      ...shareOf(parts.flatMap(stretchesOf), state.seconds),
      delegates: parts.length,
    },
  }
}

function stretchesOf({ attempts, lastAt }: RunState): readonly Stretch[] {
  return attempts.map(({ at, endedAt, started }) => ({
    task: started.task.id,
    from: Date.parse(at),
    to: Date.parse(endedAt ?? lastAt),
  }))
}

/** What a delegate has proved is done when it is merged, and not before. */
function asMerged(session: SessionReport, { move }: RunState): SessionReport {
  if (move?.to === 'merged') return session
  return { ...session, tasks: session.tasks.map((task) => unmerged(task, move)) }
}

function unmerged(task: TaskReport, move: RunState['move']): TaskReport {
  if (task.outcome !== 'done' && move?.to !== 'parked') return task
  const reason =
    move?.because ?? (move?.to === 'ready' ? 'it is ready, and not merged' : 'it is not merged')
  return {
    ...task,
    outcome: move?.to === 'parked' ? 'parked' : 'open',
    reason,
    ...defined({ kept: move?.kept }),
  }
}

function addComparison(a: Comparison, b: Comparison): Comparison {
  return {
    boilerplateAvoided: a.boilerplateAvoided + b.boilerplateAvoided,
    historyReread: a.historyReread + b.historyReread,
    profilesNotLoaded: a.profilesNotLoaded + b.profilesNotLoaded,
    ...(a.savedUsd === undefined || b.savedUsd === undefined
      ? {}
      : { savedUsd: a.savedUsd + b.savedUsd }),
  }
}

// What saying the set-up once saves, counted on the texts themselves.

export interface PromptSizes {
  readonly setup: number
  /** The texts about tasks, one for each prompt. */
  readonly tasks: readonly number[]
  /** All that was said in the conversation. */
  readonly together: number
  /** What would have been said with a conversation for each of them. */
  readonly apart: number
  /** Tokens of set-up that were not said again. */
  readonly avoided: number
}

/** The tokens of a conversation's set-up against those of its tasks. */
export function promptSizes(setup: string, tasks: readonly string[]): PromptSizes {
  const once = estimateTokens(setup)
  const each = tasks.map(estimateTokens)
  const own = each.reduce((sum, tokens) => sum + tokens, 0)
  const together = once + own
  const apart = once * each.length + own
  return { setup: once, tasks: each, together, apart, avoided: Math.max(0, apart - together) }
}

/** The tokens of set-up that conversations saved by taking several tasks each. */
export function boilerplateAvoided(
  conversations: readonly { readonly setup: number; readonly tasks: number }[],
): number {
  return conversations.reduce((sum, { setup, tasks }) => sum + setup * Math.max(0, tasks - 1), 0)
}
