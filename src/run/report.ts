// The cost of a run, its sessions and tasks, compared with one conversation per task.
import {
  type ConfiguredPrice,
  PRICES_DATE,
  estimateCost,
  findPrice,
} from '../context/budget/prices.ts'
import { defined } from '../text/defined.ts'
import type {
  Comparison,
  ParallelReport,
  RunReport,
  SessionReport,
  Spend,
  TaskReport,
} from './entries.ts'
import {
  type Attempt,
  type RunState,
  type UsageByModel,
  ZERO_USAGE,
  sumAttemptUsage,
  sumUsage,
  totalTokens,
} from './run-state.ts'

interface ReportOptions extends Pick<RunReport, 'run' | 'commits'> {
  readonly prices: readonly ConfiguredPrice[]
  readonly isRunning: boolean
}

const FREE: Spend = { ...ZERO_USAGE, usd: 0 }

export function reportFrom(
  state: RunState,
  { run, prices, isRunning, commits }: ReportOptions,
): RunReport {
  const { attempts, conversations, started, startedAt, seconds, neverBegun } = state
  const sessions = state.sessions.map(({ session, name }): SessionReport => {
    const own = attempts.filter((attempt) => attempt.started.session === session)
    const tasks = taskReports(state, own, prices)
    return {
      session,
      name,
      conversations: conversations.filter(({ opened }) => opened.session === session).length,
      tasks,
      spend: tasks.reduce((all, { spend }) => addSpend(all, spend), FREE),
      seconds: sum(tasks.map((task) => task.seconds)),
    }
  })
  const spent = sumAttemptUsage(attempts)
  const models = Object.keys(spent)
  return {
    run,
    harness: started.harness,
    models,
    how: isRunning ? 'running' : (state.ended ?? 'interrupted'),
    startedAt,
    seconds,
    sessions,
    ...defined({ neverBegun }),
    spend: priceUsage(spent, prices),
    prices: describePriceSource(models, prices),
    compared: compare(state, prices),
    ...defined({
      backlog: started.options.backlog,
      branch: started.isInPlace ? undefined : started.branch,
    }),
    commits,
  }
}

/** For a run that never started because there was nothing to do. */
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
    prices: describePriceSource([], []),
    compared: { boilerplateAvoided: 0, historyReread: 0, savedUsd: 0, profilesNotLoaded: 0 },
    commits: 0,
  }
}

function taskReports(
  state: RunState,
  attempts: readonly Attempt[],
  prices: readonly ConfiguredPrice[],
): readonly TaskReport[] {
  const tasks = new Map(attempts.map(({ started }) => [started.task.id, started.task]))
  return [...tasks.values()].map((task): TaskReport => {
    const isOfTask = ({ started }: Attempt) => started.task.id === task.id
    const own = attempts.filter(isOfTask)
    const last = own.at(-1)!
    const added = own.flatMap((attempt) => attempt.added ?? [])
    // If a later session parked it, that is not this session's outcome.
    const parked =
      state.attempts.findLast(isOfTask) === last ? state.parked.get(task.id) : undefined
    const unfinished = parked === undefined ? 'open' : 'parked'
    const outcome =
      last.outcome === 'done' || last.outcome === 'blocked' ? last.outcome : unfinished
    const left: Pick<Attempt, 'reason' | 'kept'> = outcome === 'done' ? {} : { ...last, ...parked }
    return {
      task,
      outcome,
      attempts: own.length,
      spend: priceUsage(sumAttemptUsage(own), prices),
      seconds: sum(own.map(({ seconds }) => seconds)),
      compactions: sum(own.map(({ compactions }) => compactions)),
      ...defined({
        reason: left.reason,
        commit: last.commit,
        added: added.length === 0 ? undefined : sum(added),
        kept: left.kept,
      }),
    }
  })
}

function describePriceSource(
  models: readonly string[],
  prices: readonly ConfiguredPrice[],
): string {
  const unknown = models.filter((model) => findPrice(model, prices) === undefined)
  if (unknown.length > 0)
    return `unknown for ${unknown.join(', ')}; prices in .sessions/config.yaml tell them`
  const from = new Set(models.flatMap((model) => findPrice(model, prices)?.from ?? []))
  return from.size === 0 ? `price list of ${PRICES_DATE}` : [...from].join(', ')
}

/** Sums the usage of all models. Without `usd` where the price of one is unknown. */
export function priceUsage(spent: UsageByModel, prices: readonly ConfiguredPrice[]): Spend {
  const all = Object.values(spent).reduce(sumUsage, ZERO_USAGE)
  if (totalTokens(all) === 0) return { ...all, usd: 0 }
  const used = Object.fromEntries(
    Object.entries(spent).map(([model, usage]) => [model, { ...usage, cacheWrittenHour: 0 }]),
  )
  return { ...all, ...defined({ usd: estimateCost(used, prices, '')?.value }) }
}

export function addSpend(a: Spend, b: Spend): Spend {
  return { ...sumUsage(a, b), ...defined({ usd: addIfKnown(a.usd, b.usd) }) }
}

function addIfKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

/** A conversation of a run, compared with one conversation per task. */
export interface ComparedConversation {
  readonly number: number
  readonly session: string
  readonly model?: string
  readonly own: readonly Attempt[]
  readonly setup: number
  readonly tasks: number
  /** Tokens in its context at the start. */
  readonly start: number
  readonly boilerplateAvoided: number
  /** Tokens of earlier tasks that each later attempt read again. */
  readonly reread: readonly number[]
  readonly profilesNotLoaded: number
}

export function compareConversations({
  attempts,
  conversations,
}: Pick<RunState, 'attempts' | 'conversations'>): readonly ComparedConversation[] {
  return conversations.map(({ opened: { number, session, setup }, model, notLoaded }) => {
    const own = attempts.filter(({ started }) => started.conversation === number)
    const tasks = new Set(own.map(({ started }) => started.task.id)).size
    const first = own.find(({ started }) => started.isFirst)
    const second = own.find(({ started }) => !started.isFirst && (started.context ?? 0) > 0)
    const start = Math.max(0, (second?.started.context ?? 0) - (first?.added ?? 0))
    // Every request reads the history of earlier tasks again. The start would be read either way.
    const reread = own.flatMap(({ started: { isFirst, context }, requests }) => {
      return isFirst || context === undefined ? [] : [Math.max(0, context - start) * requests]
    })
    return {
      number,
      session,
      ...(typeof model === 'string' ? { model } : {}),
      own,
      setup,
      tasks,
      start,
      boilerplateAvoided: setup * Math.max(0, tasks - 1),
      reread,
      profilesNotLoaded: notLoaded,
    }
  })
}

function compare(state: RunState, prices: readonly ConfiguredPrice[]): Comparison {
  const conversations = compareConversations(state)
  // A fresh conversation would write its start into the cache, where this one read it and its history.
  const saved = conversations.flatMap(({ model, start, reread }) => {
    const price = findPrice(model ?? state.started.harness, prices)?.price
    return reread.map((history) =>
      price === undefined
        ? undefined
        : (start * (price.cacheWrite - price.cacheRead) - history * price.cacheRead) / 1_000_000,
    )
  })
  return {
    boilerplateAvoided: sum(conversations.map((one) => one.boilerplateAvoided)),
    historyReread: sum(conversations.flatMap(({ reread }) => reread)),
    profilesNotLoaded: sum(conversations.map((one) => one.profilesNotLoaded)),
    ...defined({ savedUsd: saved.reduce(addIfKnown, 0) }),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

const TARGET_SHARE = 0.6

/** Intervals are in milliseconds; `seconds` is the duration of the whole run. */
export function computeParallelShare(
  intervals: readonly { readonly task: string; readonly from: number; readonly to: number }[],
  seconds: number,
): Pick<ParallelReport, 'share' | 'target' | 'savedSeconds'> {
  const nonEmpty = intervals.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)
  const parallelTasks = new Set<string>()
  for (const [index, one] of nonEmpty.entries()) {
    for (const other of nonEmpty.slice(index + 1)) {
      if (other.from >= one.to) break
      if (other.task !== one.task) parallelTasks.add(one.task).add(other.task)
    }
  }
  const tasks = new Set(intervals.map(({ task }) => task)).size
  return {
    share: tasks === 0 ? 0 : parallelTasks.size / tasks,
    target: TARGET_SHARE,
    savedSeconds: Math.round(sum(nonEmpty.map(({ from, to }) => to - from)) / 1000 - seconds),
  }
}

/** A parallel run costs what its delegates cost; only merged work counts as done. */
export function parallelReport(
  state: RunState,
  parts: readonly RunState[],
  options: ReportOptions,
): RunReport {
  const own = reportFrom(state, options)
  const reports = parts.map((part) => reportFrom(part, options))
  const spent = sumAttemptUsage(parts.flatMap(({ attempts }) => attempts))
  const intervals = parts.flatMap(({ attempts, lastAt }) =>
    attempts.map(({ at, endedAt, started }) => ({
      task: started.task.id,
      from: Date.parse(at),
      to: Date.parse(endedAt ?? lastAt),
    })),
  )
  return {
    ...own,
    models: Object.keys(spent),
    sessions: reports.flatMap(({ sessions }, index) =>
      sessions.map((session) => withMergeOutcome(session, parts[index]!)),
    ),
    spend: priceUsage(spent, options.prices),
    prices: (reports.find(({ spend }) => spend.usd === undefined) ?? reports[0] ?? own).prices,
    compared: reports.map(({ compared }) => compared).reduce(addComparison, own.compared),
    parallel: {
      most: state.started.options.parallel ?? 1,
      ...computeParallelShare(intervals, state.seconds),
      delegates: parts.length,
    },
  }
}

function withMergeOutcome(session: SessionReport, { move }: RunState): SessionReport {
  if (move?.to === 'merged') return session
  const isParked = move?.to === 'parked'
  const fallback = move?.to === 'ready' ? 'it is ready, and not merged' : 'it is not merged'
  const tasks = session.tasks.map((task): TaskReport => {
    if (task.outcome !== 'done' && !isParked) return task
    return {
      ...task,
      outcome: isParked ? 'parked' : 'open',
      reason: move?.because ?? fallback,
      ...defined({ kept: move?.kept }),
    }
  })
  return { ...session, tasks }
}

function addComparison(a: Comparison, b: Comparison): Comparison {
  return {
    boilerplateAvoided: a.boilerplateAvoided + b.boilerplateAvoided,
    historyReread: a.historyReread + b.historyReread,
    profilesNotLoaded: a.profilesNotLoaded + b.profilesNotLoaded,
    ...defined({ savedUsd: addIfKnown(a.savedUsd, b.savedUsd) }),
  }
}
