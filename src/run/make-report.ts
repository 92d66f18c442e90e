import { type OwnPrice, PRICES_OF, priceOf } from '../context/budget/prices.ts'
import { compare } from './compare.ts'
import type { RunReport, SessionReport, Spend, TaskReport } from './report.ts'
import { type Attempt, type RunState, addSpent } from './run-state.ts'
import { addSpend, spendOf } from './spend.ts'
import { defined } from '../text/defined.ts'

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
