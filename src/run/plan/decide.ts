import { number } from '../../text/amounts.ts'
import type { Forecast, Forecasts, Start } from './forecast.ts'
import { type PlannedTask, areRelated, relationToAll } from './order.ts'
import { DEFAULT_PLAN, type PlanSettings, placesOf } from '../../project/config/run-config.ts'
import { type Price, type Spent, priced } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'

/** A conversation as it is between two tasks. */
export interface Standing {
  /** Tokens in its context now; 0 when there is none yet. */
  readonly context: number
  /** What a fresh conversation begins with: the harness's own prompt, tools and our set-up. */
  readonly base: number
  /** Where the harness compacts; unknown for some. */
  readonly point?: number
  readonly smartZone: number
  /** The tasks that were done in it, the latest last. */
  readonly done: readonly PlannedTask[]
  /** Absent when the model's price is unknown: tokens are weighed as prices usually are to each other. */
  readonly price?: Price
  /** The prefix is still in the provider's cache. */
  readonly isWarm: boolean
}

export interface Decision {
  readonly stay: boolean
  /** In one line, with the figures that decided. */
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
  /** What staying and leaving would cost from here on: US dollars, or tokens of input where the price is unknown. */
  readonly cost?: { readonly stay: number; readonly leave: number }
}

export interface PlannedSession {
  readonly tasks: readonly { readonly task: PlannedTask; readonly forecast: Forecast }[]
  /** Why it begins with its first task, and not the session before it goes on. */
  readonly because: string
  /** Tokens in the context at its end, in the middle and at the margin. */
  readonly context: { readonly middle: number; readonly margin: number }
  readonly tokens: Usage
  readonly usd?: number
  readonly seconds: number
}

/** `forecast`: as is cheapest; `fixed`: so many small tasks; `one`: each task in a conversation of its own. */
export type BatchMode = 'forecast' | 'fixed' | 'one'

/** Whether the next task is done in the conversation as it stands, or in a fresh one. `after` are those behind it, in order. */
export function decide(
  standing: Standing,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): Decision {
  if (standing.context <= 0)
    return { stay: false, rule: 'first', because: 'there is no conversation yet' }
  if (isFresh(standing, forecasts))
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

/** What a conversation is given at its start is never counted to the token; leaving one so short would gain nothing. */
function isFresh({ done, context, base }: Standing, { start }: Forecasts): boolean {
  return done.length === 0 && context <= base + start.added
}

function forbidden(
  standing: Standing,
  next: PlannedTask,
  forecasts: Forecasts,
): Decision | undefined {
  const { context, point, smartZone } = standing
  const forecast = forecasts.of[next.sizeClass]
  const rule = forbiddenBy(context, forecast, standing)
  if (rule === undefined) return undefined
  const because =
    rule === 'smart zone'
      ? `${number(context)} tokens in the context, and the smart zone ends at ${number(smartZone)}`
      : `${number(context)} tokens in the context and up to ${number(forecast.added.margin)} for a ${next.sizeClass} task ` +
        `would pass the compaction point, ${number(point!)}`
  return { stay: false, rule, because }
}

function byCost(
  standing: Standing,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
): Decision {
  if (relationToAll(next, standing.done) === 'unrelated') {
    return {
      stay: false,
      rule: 'unrelated',
      because: 'it has nothing to do with what was done in this conversation',
    }
  }
  const { context, price, isWarm } = standing
  const cost = cheapest(standing, [next, ...after], forecasts)
  const [here, fresh] = [shownCost(price, cost.stay), shownCost(price, cost.leave)]
  const ahead =
    after.length === 0
      ? 'the last task'
      : `the ${Math.min(after.length + 1, LOOK_AHEAD)} tasks ahead`
  const again = `${isWarm ? '' : 'the cache is cold, and '}each request reads ${number(context)} tokens again`
  if (cost.stay > cost.leave) {
    return {
      stay: false,
      rule: 'cheaper fresh',
      cost,
      because: `${ahead}: about ${fresh} from a fresh start, ${here} from here, where ${again}`,
    }
  }
  return {
    stay: true,
    rule: 'fits',
    cost,
    because: `${ahead}: about ${here} from here, ${fresh} from a fresh start; ${again}`,
  }
}

function byBatch(
  { done, context, point, smartZone }: Standing,
  next: PlannedTask,
  settings: PlanSettings,
): Decision {
  const { places, leaveAbove } = settings.batch
  // Where the harness compacts is not always known; where a model stops reading well is close enough.
  const budget = point ?? smartZone
  const rule = 'batch'
  if (context > leaveAbove * budget) {
    const because = `${number(context)} tokens in the context are more than ${Math.round(leaveAbove * 100)} % of ${number(budget)}`
    return { stay: false, rule, because }
  }
  const taken = done.reduce((sum, task) => sum + placesOf(task.sizeClass, settings), 0)
  const wanted = placesOf(next.sizeClass, settings)
  const because = `${taken} of ${places} places are taken, and a ${next.sizeClass} task takes ${wanted}`
  return { stay: taken + wanted <= places, rule, because }
}

// What forbids to begin a task in a conversation, whatever it would cost.

export type Forbidding = 'smart zone' | 'compaction point'

/** The rule that a task with this forecast would break with so many tokens in the context. */
export function forbiddenBy(
  context: number,
  { added }: Forecast,
  { point, smartZone }: Pick<Standing, 'point' | 'smartZone'>,
): Forbidding | undefined {
  if (point !== undefined && context + added.margin > point) return 'compaction point'
  return context >= smartZone ? 'smart zone' : undefined
}

// What a task costs, by how long the history is that it is done on. Each request reads all that is in the context; what is new is
// written to the cache once; and a context that is not in the cache is written once instead of read.

// As prices usually are to each other: what a token of input costs is 1.
const USUAL: Price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2 }
const MILLION = 1_000_000

/** What one task takes by itself. */
export interface Work {
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
}

/** What is expected of a task. */
export function expectedWork({ added, requests, output, seconds }: Forecast, first?: Start): Work {
  const work = { added: added.middle, requests, output, seconds }
  return first === undefined ? work : plus(work, first)
}

export function plus(a: Work, b: Work): Work {
  return {
    added: a.added + b.added,
    requests: a.requests + b.requests,
    output: a.output + b.output,
    seconds: a.seconds + b.seconds,
  }
}

/** The tokens of a task that begins with so many in the context. It adds to them evenly, so each request reads half of that. */
export function spentOn(
  { added, requests, output }: Work,
  context: number,
  isWarm: boolean,
): Spent {
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
export function costIn(price: Price | undefined, spent: Spent): number {
  return price === undefined ? priced(spent, USUAL) * MILLION : priced(spent, price)
}

export function shownCost(price: Price | undefined, cost: number): string {
  if (price !== undefined) return `$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`
  return `${Math.round(cost / 1000)}k tokens of input`
}

// What the rest of the work costs at best. After leaving, a conversation begins with the same few tokens whatever was before, so
// the best way from a task on is known once for each task, and the order is cut into conversations exactly and not by trying all ways.

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

/** How a run would go if every task took what is forecast. Each decision is the one that the run itself would make then. */
export function planSessions(
  order: readonly PlannedTask[],
  beginning: Standing,
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): readonly PlannedSession[] {
  const drafts: Draft[] = []
  let standing = beginning
  for (const [place, task] of order.entries()) {
    const decision = decide(standing, task, order.slice(place + 1), forecasts, mode, settings)
    if (!decision.stay || drafts.length === 0) {
      drafts.push(new Draft(decision))
      // Also a conversation that stands may be gone on with.
      if (!decision.stay)
        standing = { ...beginning, context: beginning.base, done: [], isWarm: false }
    }
    const isFirst = !decision.stay || decision.rule === 'first'
    const work = expectedWork(forecasts.of[task.sizeClass], isFirst ? forecasts.start : undefined)
    drafts.at(-1)!.add(task, work, standing)
    standing = {
      ...standing,
      context: standing.context + work.added,
      done: [...standing.done, task],
      isWarm: true,
    }
  }
  return drafts.map((draft) => draft.finished(beginning, forecasts))
}

class Draft {
  readonly #because: string
  readonly #tasks: PlannedTask[] = []
  #context = 0
  #seconds = 0
  #spent: Spent = { input: 0, output: 0, cacheRead: 0, cacheWritten: 0, cacheWrittenHour: 0 }

  constructor({ because }: Decision) {
    this.#because = because
  }

  add(task: PlannedTask, work: Work, { context, isWarm }: Standing): void {
    const spent = spentOn(work, context, isWarm)
    this.#tasks.push(task)
    this.#context = context + work.added
    this.#seconds += work.seconds
    this.#spent = {
      ...this.#spent,
      output: this.#spent.output + spent.output,
      cacheRead: this.#spent.cacheRead + spent.cacheRead,
      cacheWritten: this.#spent.cacheWritten + spent.cacheWritten,
    }
  }

  finished({ price }: Standing, forecasts: Forecasts): PlannedSession {
    const last = forecasts.of[this.#tasks.at(-1)!.sizeClass].added
    const { output, cacheRead, cacheWritten } = this.#spent
    return {
      tasks: this.#tasks.map((task) => ({ task, forecast: forecasts.of[task.sizeClass] })),
      because: this.#because,
      // Before each task it is looked again where things stand, so that only the last can come out larger than thought.
      context: {
        middle: Math.round(this.#context),
        margin: Math.round(this.#context - last.middle + last.margin),
      },
      tokens: {
        input: 0,
        output: Math.round(output),
        cacheRead: Math.round(cacheRead),
        cacheWritten: Math.round(cacheWritten),
      },
      ...(price === undefined ? {} : { usd: priced(this.#spent, price) }),
      seconds: Math.round(this.#seconds),
    }
  }
}
