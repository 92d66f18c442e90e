import { formatInteger } from '../../text/format-amounts.ts'
import { type BilledTokens, type Price, costAtPrice } from '../../context/budget/prices.ts'
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
  /** The cost of each choice from here on: US dollars, or input tokens where the price is unknown. */
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

/** `forecast`: the cheapest plan; `fixed`: a fixed number of small tasks; `one`: a conversation per task. */
export type BatchMode = 'forecast' | 'fixed' | 'one'

/** Whether the next task continues the conversation or gets a fresh one. `after` are the tasks that follow. */
export function decideRotation(
  load: ConversationLoad,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): RotationDecision {
  const { base, context, done } = load
  if (context <= 0) return { stay: false, rule: 'first', because: 'there is no conversation yet' }
  // Rotating a conversation this short would gain nothing.
  if (done.length === 0 && context <= base + forecasts.startup.added)
    return { stay: true, rule: 'first', because: 'nothing was done in this conversation yet' }
  if (mode === 'one')
    return { stay: false, rule: 'one', because: 'each task gets a conversation of its own' }
  return (
    rotateIfFull(load, next, forecasts) ??
    (mode === 'fixed'
      ? decideByBatch(load, next, settings)
      : decideByCost(load, next, after, forecasts))
  )
}

function rotateIfFull(
  load: ConversationLoad,
  { sizeClass }: PlannedTask,
  forecasts: Forecasts,
): RotationDecision | undefined {
  const { context, point, smartZone } = load
  const forecast = forecasts.bySize[sizeClass]
  const rule = findPassedLimit(context, forecast, load)
  if (rule === undefined) return undefined
  const because =
    rule === 'smart zone'
      ? `${formatInteger(context)} tokens in the context, and the smart zone ends at ${formatInteger(smartZone)}`
      : `${formatInteger(context)} tokens in the context and up to ${formatInteger(forecast.added.margin)} for a ${sizeClass} task ` +
        `would pass the compaction point, ${formatInteger(point!)}`
  return { stay: false, rule, because }
}

function decideByCost(
  load: ConversationLoad,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
): RotationDecision {
  if (relationToAll(next, load.done) === 'unrelated') {
    const because = 'it has nothing to do with what was done in this conversation'
    return { stay: false, rule: 'unrelated', because }
  }
  const { context, price, isWarm } = load
  const cost = cheapestCosts(load, [next, ...after], forecasts)
  const [here, fresh] = [shownCost(price, cost.stay), shownCost(price, cost.leave)]
  const ahead =
    after.length === 0
      ? 'the last task'
      : `the ${Math.min(after.length + 1, TASKS_AHEAD)} tasks ahead`
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

function decideByBatch(
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

function findPassedLimit(
  context: number,
  { added }: Forecast,
  { point = Infinity, smartZone }: ConversationLoad,
): 'smart zone' | 'compaction point' | undefined {
  if (context + added.margin > point) return 'compaction point'
  return context >= smartZone ? 'smart zone' : undefined
}

// The usual price ratios, relative to an input token.
const USUAL_PRICES: Price = {
  input: 1,
  output: 5,
  cacheRead: 0.1,
  cacheWrite: 1.25,
  cacheWriteHour: 2,
}
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

/** Assumes the context grows evenly over the requests; a cold context is written once instead of read. */
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
  return price === undefined
    ? costAtPrice(spent, USUAL_PRICES) * MILLION
    : costAtPrice(spent, price)
}

function shownCost(price: Price | undefined, cost: number): string {
  if (price !== undefined) return `$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`
  return `${Math.round(cost / 1000)}k tokens of input`
}

/** Forecasts further ahead are too uncertain. */
const TASKS_AHEAD = 60

/**
 * The minimum cost of these tasks in order, with the first one in this conversation or in a fresh one. Every fresh
 * conversation starts the same, so the best plan from each task on is computed once.
 */
export function cheapestCosts(
  load: ConversationLoad,
  order: readonly PlannedTask[],
  forecasts: Forecasts,
): { stay: number; leave: number } {
  const tasks = order.slice(0, TASKS_AHEAD)
  const unrelated = findUnrelated(tasks)
  /** The minimum cost from each task on, if it starts a conversation. */
  const fresh = Array.from({ length: tasks.length + 1 }, () => 0)
  /** The minimum over how many tasks one conversation takes before the next fresh one. */
  const least = (
    from: number,
    beginning: { context: number; isFirst: boolean; isWarm: boolean },
    isUnrelated: (at: number) => boolean,
  ): number => {
    let { context } = beginning
    let cost = 0
    let best = Infinity
    for (let at = from; at < tasks.length; at += 1) {
      const isFirst = at === from
      const forecast = forecasts.bySize[tasks[at]!.sizeClass]
      if (!isFirst && (findPassedLimit(context, forecast, load) !== undefined || isUnrelated(at)))
        break
      const start = isFirst && beginning.isFirst ? forecasts.weighedStartup : undefined
      const work = expectedWork(forecast, start)
      cost += expectedCost(load.price, expectedTokens(work, context, !isFirst || beginning.isWarm))
      context += work.added
      best = Math.min(best, cost + fresh[at + 1]!)
    }
    return best === Infinity ? 0 : best
  }
  const { base, done, context, isWarm } = load
  for (let from = tasks.length - 1; from >= 0; from -= 1) {
    const beginning = { context: base, isFirst: true, isWarm: false }
    fresh[from] = least(from, beginning, (at) => unrelated[from]![at]!)
  }
  const stay = least(
    0,
    { context, isFirst: false, isWarm },
    (at) => relationToAll(tasks[at]!, [...done, ...tasks.slice(0, at)]) === 'unrelated',
  )
  return { stay, leave: fresh[0]! }
}

/** For a conversation starting at each task, which later tasks are unrelated to all before them in it. */
function findUnrelated(tasks: readonly PlannedTask[]): readonly (readonly boolean[])[] {
  const unrelated = tasks.map(() => tasks.map(() => false))
  for (const [at, task] of tasks.entries()) {
    let isRelated = false
    let isUnrelated = false
    for (let from = at - 1; from >= 0; from -= 1) {
      const relation = relationBetween(task, tasks[from]!)
      isRelated ||= relation === 'related'
      isUnrelated ||= relation === 'unrelated'
      unrelated[from]![at] = isUnrelated && !isRelated
    }
  }
  return unrelated
}

/** Simulates the run's own rotation decisions, assuming every task takes what is forecast. */
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
  let load = beginning
  for (const [index, task] of order.entries()) {
    const after = order.slice(index + 1)
    const { because, rule, stay } = decideRotation(load, task, after, forecasts, mode, settings)
    if (!stay || sessions.length === 0) sessions.push({ because, done: [] })
    if (!stay) load = { ...beginning, context: beginning.base, done: [], isWarm: false }
    const start = !stay || rule === 'first' ? forecasts.startup : undefined
    const work = expectedWork(forecasts.bySize[task.sizeClass], start)
    sessions.at(-1)!.done.push({ task, work, at: load })
    load = {
      ...load,
      context: load.context + work.added,
      done: [...load.done, task],
      isWarm: true,
    }
  }
  return sessions.map(({ because, done }) => {
    const spent = done.map(({ work, at }) => expectedTokens(work, at.context, at.isWarm))
    const sum = (figure: keyof BilledTokens) => spent.reduce((total, one) => total + one[figure], 0)
    const [output, cacheRead, cacheWritten] = [sum('output'), sum('cacheRead'), sum('cacheWritten')]
    const all = { input: 0, output, cacheRead, cacheWritten, cacheWrittenHour: 0 }
    const { task, work, at } = done.at(-1)!
    const { added } = forecasts.bySize[task.sizeClass]
    const context = at.context + work.added
    const usd = beginning.price && costAtPrice(all, beginning.price)
    return {
      tasks: done.map((one) => ({
        task: one.task,
        forecast: forecasts.bySize[one.task.sizeClass],
      })),
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
