// What the rest of the work costs at best. After leaving, a conversation begins with the same few tokens whatever was before, so
// the best way from a task on is known once for each task, and the order is cut into conversations exactly and not by trying all ways.
import type { Forecasts, PlannedTask, Standing } from './contract.ts'
import { costIn, expectedWork, spentOn } from './cost.ts'
import { areRelated, relationToAll } from './related.ts'
import { forbiddenBy } from './rules.ts'

/** Farther ahead everything is likely to come otherwise, and what is decided now no longer shows. */
export const LOOK_AHEAD = 60

/**
 * The least that these tasks cost in their order, when the first is done in the conversation as it stands, and when it is
 * done in a fresh one. The rules hold in both, except for the first task, which somebody has to begin.
 */
export function cheapest(
  standing: Standing,
  order: readonly PlannedTask[],
  forecasts: Forecasts,
): { stay: number; leave: number } {
  const tasks = order.slice(0, LOOK_AHEAD)
  const apart = keptApart(tasks)
  const conversation = { standing, tasks, forecasts }
  /** The least from each task on, when it begins a conversation. */
  const fresh = Array.from({ length: tasks.length + 1 }, () => 0)
  for (let from = tasks.length - 1; from >= 0; from -= 1) {
    fresh[from] = least(
      conversation,
      { from, context: standing.base, isFirst: true, isWarm: false },
      fresh,
      (at) => apart[from]![at]!,
    )
  }
  const { done, context, isWarm } = standing
  const stay = least(
    conversation,
    { from: 0, context, isFirst: false, isWarm },
    fresh,
    (at) => relationToAll(tasks[at]!, [...done, ...tasks.slice(0, at)]) === 'unrelated',
  )
  return { stay, leave: fresh[0]! }
}

interface Beginning {
  readonly from: number
  readonly context: number
  readonly isFirst: boolean
  readonly isWarm: boolean
}

/** The cheapest number of tasks to do in one conversation, with the best way on from there. */
function least(
  {
    standing,
    tasks,
    forecasts,
  }: { standing: Standing; tasks: readonly PlannedTask[]; forecasts: Forecasts },
  beginning: Beginning,
  fresh: readonly number[],
  isApart: (at: number) => boolean,
): number {
  let { context } = beginning
  let cost = 0
  let best = Infinity
  for (let at = beginning.from; at < tasks.length; at += 1) {
    const isFirst = at === beginning.from
    const forecast = forecasts.of[tasks[at]!.sizeClass]
    if (!isFirst && (forbiddenBy(context, forecast, standing) !== undefined || isApart(at))) break
    const work = expectedWork(
      forecast,
      isFirst && beginning.isFirst ? forecasts.weighedStart : undefined,
    )
    cost += costIn(standing.price, spentOn(work, context, !isFirst || beginning.isWarm))
    context += work.added
    best = Math.min(best, cost + fresh[at + 1]!)
  }
  return best === Infinity ? 0 : best
}

/** For each conversation that begins at a task, the later tasks that are unrelated to all that came before them in it. */
function keptApart(tasks: readonly PlannedTask[]): readonly (readonly boolean[])[] {
  const apart = tasks.map(() => tasks.map(() => false))
  for (const [at, task] of tasks.entries()) {
    let isRelated = false
    let isUnrelated = false
    for (let from = at - 1; from >= 0; from -= 1) {
      const relation = areRelated(task, tasks[from]!)
      isRelated ||= relation === 'related'
      isUnrelated ||= relation === 'unrelated'
      apart[from]![at] = isUnrelated && !isRelated
    }
  }
  return apart
}
