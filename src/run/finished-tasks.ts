import type { FinishedTask } from './plan/contract.ts'
import type { Place } from '../project/store/place.ts'
import { runIds } from '../project/store/run-files.ts'
import { readRun } from './run-log.ts'
import { type Attempt, type RunState, foldRun, NOTHING, addUsage } from './run-state.ts'
import { defined } from '../text/defined.ts'

/** More runs than this tell nothing about how tasks are now. */
const RUNS = 50

/** What the tasks of a project took with a harness, from the runs before. Another harness spends otherwise, and a rehearsal spends nothing. */
export function finishedTasks(
  place: Place,
  harness: string,
  except?: string,
): readonly FinishedTask[] {
  return runIds(place)
    .filter((run) => run !== except)
    .slice(-RUNS)
    .flatMap((run) => {
      const state = foldRun(readRun(place, run))
      return state?.started.harness === harness ? finishedIn(state) : []
    })
}

/** What the tasks took that were done in a run, all attempts together. */
export function finishedIn({ attempts }: RunState): readonly FinishedTask[] {
  const done = attempts.filter(({ outcome }) => outcome === 'done')
  return done.flatMap((last) =>
    finished(attempts.filter(({ started }) => started.task.id === last.started.task.id)),
  )
}

function finished(attempts: readonly Attempt[]): readonly FinishedTask[] {
  const [first] = attempts
  const measured = attempts.filter(({ added }) => added !== undefined)
  // Where the harness tells nothing, nothing is learned.
  if (first === undefined || measured.length === 0) return []
  const sum = (of: (attempt: Attempt) => number) =>
    attempts.reduce((total, attempt) => total + of(attempt), 0)
  const usage = attempts.flatMap(({ spent }) => Object.values(spent)).reduce(addUsage, NOTHING)
  const { forecast, isFirst, sizeClass } = first.started
  return [
    {
      sizeClass,
      added: measured.reduce((total, { added }) => total + (added ?? 0), 0),
      requests: sum(({ requests }) => requests),
      output: usage.output,
      seconds: sum(({ seconds }) => seconds),
      wasCompacted: attempts.some(({ compactions }) => compactions > 0),
      wasFirst: isFirst,
      ...defined({ forecast }),
    },
  ]
}
