// A run that works on several tasks at once took what its delegates took; of what they did counts what is merged.
import { type Stretch, shareOf } from './parallel-share.ts'
import { type ReportOptions, reportFrom } from './make-report.ts'
import type { Comparison, RunReport, SessionReport, TaskReport } from './report.ts'
import { type RunState, addSpent } from './run-state.ts'
import { spendOf } from './spend.ts'
import { defined } from '../text/defined.ts'

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
