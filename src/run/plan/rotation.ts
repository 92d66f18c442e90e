import { formatInteger } from '../../text/format-amounts.ts'
import { type Price, type BilledTokens, costAtPrice } from '../../context/budget/prices.ts'
import { DEFAULT_PLAN, type PlanSettings, batchPlacesFor } from '../../project/config/run-config.ts'
import type { Usage } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import type { Forecast, Forecasts, StartupCost } from './forecast.ts'
import { type PlannedTask, relationBetween, relationToAll } from './order-tasks.ts'

export interface ConversationLoad {
  /** Tokens in its context now; 0 when there is none yet. */
  readonly context: number
  readonly base: number
  /** The compaction point; unknown for some harnesses. */
  readonly point?: number
  readonly smartZone: number
  readonly done: readonly PlannedTask[]
  /** Without it tokens are weighed by the usual price ratios. */
  readonly price?: Price
  /** The prefix is still in the provider's cache. */
  readonly isWarm: boolean
}

export interface RotationDecision {
  readonly stay: boolean
  readonly because: string
  readonly rule:
    | 'first'
    | 'fits'
    | 'compaction point'
    | 'smart zone'
    | 'cheaper fresh'
    | 'unrelated'
    | 'batch'
    | 'one'
  /** What either way would cost from here on: US dollars, or tokens of input where the price is unknown. */
  readonly cost?: { readonly stay: number; readonly leave: number }
}

interface PlannedSession {
  readonly tasks: readonly { readonly task: PlannedTask; readonly forecast: Forecast }[]
  readonly because: string
  readonly context: { readonly middle: number; readonly margin: number }
  readonly tokens: Usage
  readonly usd?: number
  readonly seconds: number
}

/** `forecast`: the cheapest way; `fixed`: so many small tasks; `one`: a conversation for each task. */
export type BatchMode = 'forecast' | 'fixed' | 'one'

/** Whether the next task continues the conversation or gets a fresh one. `after` are those behind it, in order. */
export function decideRotation(
  standing: ConversationLoad,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): RotationDecision {
  const { base, context, done } = standing
  if (context <= 0) return { stay: false, rule: 'first', because: 'there is no conversation yet' }
  // Leaving a conversation this short would gain nothing.
  if (done.length === 0 && context <= base + forecasts.start.added)
    return { stay: true, rule: 'first', because: 'nothing was done in this conversation yet' }
  if (mode === 'one')
    return { stay: false, rule: 'one', because: 'each task gets a conversation of its own' }
  return (
    forbidden(standing, next, forecasts) ??
    (mode === 'fixed'
      ? byBatch(standing, next, settings)
      : byCost(standing, next, after, forecasts))
  )
}

function forbidden(
  standing: ConversationLoad,
  { sizeClass }: PlannedTask,
  forecasts: Forecasts,
): RotationDecision | undefined {
  const { context, point, smartZone } = standing
  const forecast = forecasts.of[sizeClass]
  const rule = forbiddenBy(context, forecast, standing)
  if (rule === undefined) return undefined
  const because =
    rule === 'smart zone'
      ? `${formatInteger(context)} tokens in the context, and the smart zone ends at ${formatInteger(smartZone)}`
      : `${formatInteger(context)} tokens in the context and up to ${formatInteger(forecast.added.margin)} for a ${sizeClass} task ` +
        `would pass the compaction point, ${formatInteger(point!)}`
  return { stay: false, rule, because }
}

function byCost(
  standing: ConversationLoad,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
): RotationDecision {
  if (relationToAll(next, standing.done) === 'unrelated') {
    const because = 'it has nothing to do with what was done in this conversation'
    return { stay: false, rule: 'unrelated', because }
  }
  const { context, price, isWarm } = standing
  const cost = cheapestCosts(standing, [next, ...after], forecasts)
  const [here, fresh] = [shownCost(price, cost.stay), shownCost(price, cost.leave)]
  const ahead =
    after.length === 0
      ? 'the last task'
      : `the ${Math.min(after.length + 1, LOOK_AHEAD)} tasks ahead`
  const again = `${isWarm ? '' : 'the cache is cold, and '}each request reads ${formatInteger(context)} tokens again`
  return cost.stay > cost.leave
    ? {
        stay: false,
        rule: 'cheaper fresh',
        cost,
        because: `${ahead}: about ${fresh} from a fresh start, ${here} from here, where ${again}`,
      }
    : {
        stay: true,
        rule: 'fits',
        cost,
        because: `${ahead}: about ${here} from here, ${fresh} from a fresh start; ${again}`,
      }
}

function byBatch(
  { done, context, point, smartZone }: ConversationLoad,
  { sizeClass }: PlannedTask,
  settings: PlanSettings,
): RotationDecision {
  const { places, leaveAbove } = settings.batch
  const budget = point ?? smartZone
  const rule = 'batch'
  if (context > leaveAbove * budget) {
    const because = `${formatInteger(context)} tokens in the context are more than ${Math.round(leaveAbove * 100)} % of ${formatInteger(budget)}`
    return { stay: false, rule, because }
  }
  const taken = done.reduce((sum, task) => sum + batchPlacesFor(task.sizeClass, settings), 0)
  const wanted = batchPlacesFor(sizeClass, settings)
  const because = `${taken} of ${places} places are taken, and a ${sizeClass} task takes ${wanted}`
  return { stay: taken + wanted <= places, rule, because }
}

function forbiddenBy(
  context: number,
  { added }: Forecast,
  { point = Infinity, smartZone }: ConversationLoad,
): 'smart zone' | 'compaction point' | undefined {
  if (context + added.margin > point) return 'compaction point'
  return context >= smartZone ? 'smart zone' : undefined
}

// The usual price ratios, with a token of input as 1.
const USUAL: Price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2 }
const MILLION = 1_000_000

export type ExpectedWork = StartupCost

export function expectedWork(
  { added, requests, output, seconds }: Forecast,
  first?: StartupCost,
): ExpectedWork {
  const work = { added: added.middle, requests, output, seconds }
  return first === undefined ? work : addWork(work, first)
}

export function addWork(a: ExpectedWork, b: ExpectedWork): ExpectedWork {
  return {
    added: a.added + b.added,
    requests: a.requests + b.requests,
    output: a.output + b.output,
    seconds: a.seconds + b.seconds,
  }
}

/** Each request reads the context, to which the task adds evenly; a cold context is written once instead of read. */
export function expectedTokens(
  { added, requests, output }: ExpectedWork,
  context: number,
  isWarm: boolean,
): BilledTokens {
  const read = requests * (context + added / 2)
  const again = isWarm ? 0 : context
  return {
    input: 0,
    output,
    cacheRead: Math.max(0, read - again),
    cacheWritten: added + again,
    cacheWrittenHour: 0,
  }
}

/** In US dollars, or in tokens of input where the price is unknown. */
export function expectedCost(price: Price | undefined, spent: BilledTokens): number {
  return price === undefined ? costAtPrice(spent, USUAL) * MILLION : costAtPrice(spent, price)
}

function shownCost(price: Price | undefined, cost: number): string {
  if (price !== undefined) return `$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`
  return `${Math.round(cost / 1000)}k tokens of input`
}

/** Farther ahead forecasts say too little. */
const LOOK_AHEAD = 60

/**
 * The least that these tasks cost in their order, with the first done in this conversation or in a fresh one. Every fresh
 * conversation starts alike, so the best way on from each task is computed once.
 */
export function cheapestCosts(
  standing: ConversationLoad,
  order: readonly PlannedTask[],
  forecasts: Forecasts,
): { stay: number; leave: number } {
  const tasks = order.slice(0, LOOK_AHEAD)
  const apart = keptApart(tasks)
  /** The least from each task on, when it begins a conversation. */
  const fresh = Array.from({ length: tasks.length + 1 }, () => 0)
  /** The cheapest number of tasks to do in one conversation, with the best way on from there. */
  const least = (
    from: number,
    beginning: { context: number; isFirst: boolean; isWarm: boolean },
    isApart: (at: number) => boolean,
  ): number => {
    let { context } = beginning
    let cost = 0
    let best = Infinity
    for (let at = from; at < tasks.length; at += 1) {
      const isFirst = at === from
      const forecast = forecasts.of[tasks[at]!.sizeClass]
      if (!isFirst && (forbiddenBy(context, forecast, standing) !== undefined || isApart(at))) break
      const start = isFirst && beginning.isFirst ? forecasts.weighedStart : undefined
      const work = expectedWork(forecast, start)
      cost += expectedCost(
        standing.price,
        expectedTokens(work, context, !isFirst || beginning.isWarm),
      )
      context += work.added
      best = Math.min(best, cost + fresh[at + 1]!)
    }
    return best === Infinity ? 0 : best
  }
  const { base, done, context, isWarm } = standing
  for (let from = tasks.length - 1; from >= 0; from -= 1) {
    const beginning = { context: base, isFirst: true, isWarm: false }
    fresh[from] = least(from, beginning, (at) => apart[from]![at]!)
  }
  const stay = least(
    0,
    { context, isFirst: false, isWarm },
    (at) => relationToAll(tasks[at]!, [...done, ...tasks.slice(0, at)]) === 'unrelated',
  )
  return { stay, leave: fresh[0]! }
}

/** For a conversation that begins at each task, the later tasks that are unrelated to all before them in it. */
function keptApart(tasks: readonly PlannedTask[]): readonly (readonly boolean[])[] {
  const apart = tasks.map(() => tasks.map(() => false))
  for (const [at, task] of tasks.entries()) {
    let isRelated = false
    let isUnrelated = false
    for (let from = at - 1; from >= 0; from -= 1) {
      const relation = relationBetween(task, tasks[from]!)
      isRelated ||= relation === 'related'
      isUnrelated ||= relation === 'unrelated'
      apart[from]![at] = isUnrelated && !isRelated
    }
  }
  return apart
}

/** How a run would go if every task took what is forecast, by the decisions the run itself would make. */
export function planSessions(
  order: readonly PlannedTask[],
  beginning: ConversationLoad,
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): readonly PlannedSession[] {
  const sessions: {
    because: string
    done: { task: PlannedTask; work: ExpectedWork; at: ConversationLoad }[]
  }[] = []
  let standing = beginning
  for (const [place, task] of order.entries()) {
    const after = order.slice(place + 1)
    const { because, rule, stay } = decideRotation(standing, task, after, forecasts, mode, settings)
    if (!stay || sessions.length === 0) sessions.push({ because, done: [] })
    if (!stay) standing = { ...beginning, context: beginning.base, done: [], isWarm: false }
    const start = !stay || rule === 'first' ? forecasts.start : undefined
    const work = expectedWork(forecasts.of[task.sizeClass], start)
    sessions.at(-1)!.done.push({ task, work, at: standing })
    standing = {
      ...standing,
      context: standing.context + work.added,
      done: [...standing.done, task],
      isWarm: true,
    }
  }
  return sessions.map(({ because, done }) => {
    const spent = done.map(({ work, at }) => expectedTokens(work, at.context, at.isWarm))
    const sum = (figure: keyof BilledTokens) => spent.reduce((total, one) => total + one[figure], 0)
    const [output, cacheRead, cacheWritten] = [sum('output'), sum('cacheRead'), sum('cacheWritten')]
    const all = { input: 0, output, cacheRead, cacheWritten, cacheWrittenHour: 0 }
    const { task, work, at } = done.at(-1)!
    const { added } = forecasts.of[task.sizeClass]
    const context = at.context + work.added
    const usd = beginning.price && costAtPrice(all, beginning.price)
    return {
      tasks: done.map((one) => ({ task: one.task, forecast: forecasts.of[one.task.sizeClass] })),
      because,
      // The run decides again before each task, so only the last can exceed its forecast.
      context: {
        middle: Math.round(context),
        margin: Math.round(context - added.middle + added.margin),
      },
      tokens: {
        input: 0,
        output: Math.round(output),
        cacheRead: Math.round(cacheRead),
        cacheWritten: Math.round(cacheWritten),
      },
      ...defined({ usd }),
      seconds: Math.round(done.reduce((total, one) => total + one.work.seconds, 0)),
    }
  })
}
