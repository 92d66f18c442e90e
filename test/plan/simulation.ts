// Backlogs generated from the table of priors, worked through by the planner and by simpler rules. The planner does not know
// the real size of a task: it sees its class and learns from finished tasks. The same seed gives the same numbers.
import { type Price, findPrice } from '../../src/context/budget/prices.ts'
import {
  type FinishedTask,
  PRIORS,
  PRIOR_BASE,
  PRIOR_STARTUP,
  forecastsFrom,
  marginOf,
} from '../../src/run/plan/forecast.ts'
import { type PlannedTask, orderTasks, relationToAll } from '../../src/run/plan/order-tasks.ts'
import {
  DEFAULT_PLAN,
  type PlanSettings,
  type SizeClass,
} from '../../src/project/config/run-config.ts'
import {
  type ConversationLoad,
  type ExpectedWork,
  addWork,
  decideRotation,
  expectedCost,
  expectedTokens,
  expectedWork,
  planSessions,
} from '../../src/run/plan/rotation.ts'
import { foldBacklog } from '../../src/backlog/backlog.ts'
import { Chance } from './chance.ts'

/** The distribution of task sizes assumed when the priors were fitted. */
export const SHARES: Readonly<Record<SizeClass, number>> = { small: 0.35, medium: 0.45, large: 0.2 }

/** Claude Code's compaction point for a window of 200,000 tokens, and the default smart zone. */
export const LINES = { point: 167_000, smartZone: 100_000 }

/** A compaction writes a summary of this many tokens, and half of what the task had found must be found again. */
export const COMPACTION = { summary: 5_000, lost: 0.5 }

/** How much projects differ, as the standard deviation of a logarithm. With it, the total spread is that of the table. */
const PROJECT = 0.15

/** Now and then a task or check takes so long that the cache is cold before the next. */
const COLD = 0.05

export interface World {
  readonly order: readonly PlannedTask[]
  /** The real cost of each task in order, and whether the cache is warm at its start. */
  readonly work: readonly ExpectedWork[]
  readonly isWarm: readonly boolean[]
  readonly start: ExpectedWork
  readonly base: number
  readonly price: Price
}

export interface Setting {
  readonly model?: string
  /** The real start-up cost, as a multiple of the prior. */
  readonly start?: number
  readonly shares?: Readonly<Record<SizeClass, number>>
  /** Earlier backlogs of the same project that the planner has worked through. */
  readonly earlier?: number
}

/** A backlog of 5 to 60 tasks. Its project differs from the table, and each task from its class. */
export function makeWorld(
  seed: number,
  { model = 'claude-sonnet-4-5', start = 1, shares = SHARES }: Setting = {},
  backlog = 0,
): World {
  const project = new Chance(seed)
  const scale = {
    added: Math.exp(PROJECT * project.normal()),
    requests: Math.exp(PROJECT * project.normal()),
  }
  const way = start * Math.exp(0.5 * project.normal())
  const chance = backlog === 0 ? project : new Chance(seed + 1_000_000 * backlog)
  const order = orderTasks(foldBacklog(someEntries(chance, 5 + chance.below(56), shares)))
  return {
    order,
    work: order.map(({ sizeClass }) => someWork(chance, sizeClass, scale)),
    isWarm: order.map(() => chance.next() >= COLD),
    start: {
      added: PRIOR_STARTUP.added * way,
      requests: PRIOR_STARTUP.requests * way,
      output: PRIOR_STARTUP.output * way,
      seconds: PRIOR_STARTUP.seconds * way,
    },
    base: PRIOR_BASE,
    price: findPrice(model, [])!.price,
  }
}

const SIZES: Readonly<Record<SizeClass, readonly string[]>> = {
  small: ['XS', 'S'],
  medium: ['M'],
  large: ['L', 'XL'],
}

/** Labels, parents, dependency chains and priorities on some of the tasks, as in real backlogs. */
function someEntries(chance: Chance, count: number, shares: Readonly<Record<SizeClass, number>>) {
  const labels = ['auth', 'docs', 'api', 'build'].slice(0, 1 + chance.below(4))
  const parents = ['e1', 'e2', 'e3'].slice(0, chance.below(4))
  return Array.from({ length: count }, (_, index) => {
    const sizeClass = chance.of(shares)
    const data = {
      task: `t${index}`,
      title: `Task ${index}`,
      size: chance.one(SIZES[sizeClass]),
      priority: chance.one(['P1', 'P2', 'P2', 'P2', 'P3']),
      labels: chance.next() < 0.5 ? [chance.one(labels)] : [],
      dependsOn:
        index > 0 && chance.next() < 0.3 ? [`t${Math.max(0, index - 1 - chance.below(4))}`] : [],
      ...(parents.length > 0 && chance.next() < 0.3 ? { parent: chance.one(parents) } : {}),
    }
    return {
      id: String(index).padStart(6, '0'),
      at: '2026-01-01T00:00:00.000Z',
      by: 'library',
      kind: 'task.added',
      data,
    } as const
  })
}

function someWork(
  chance: Chance,
  sizeClass: SizeClass,
  scale: { added: number; requests: number },
): ExpectedWork {
  const prior = PRIORS[sizeClass]
  const [size, requestNoise, outputNoise, secondNoise] = [
    chance.normal(),
    chance.normal(),
    chance.normal(),
    chance.normal(),
  ]
  // Requests grow less than the size; output and time are proportional to the requests.
  const spread = Math.sqrt(prior.spread.added ** 2 - PROJECT ** 2)
  const more = Math.exp(0.7 * spread * size + 0.16 * requestNoise) * scale.requests
  return {
    added: prior.added * Math.exp(spread * size) * scale.added,
    requests: prior.requests * more,
    output: prior.output * more * Math.exp(0.25 * outputNoise),
    seconds: prior.seconds * more * Math.exp(0.15 * secondNoise),
  }
}

interface Outcome {
  readonly cost: number
  readonly context: number
  readonly compactions: number
}

/** The real cost of a task, including compactions by the harness. */
function workOff(
  { base, price }: World,
  work: ExpectedWork,
  begun: { context: number; isWarm: boolean },
): Outcome {
  let { context, isWarm } = begun
  let left = work
  let cost = 0
  let compactions = 0
  while (context + left.added > LINES.point) {
    const share = Math.max(0, LINES.point - context) / left.added
    const part = times(left, share)
    const summary = {
      added: COMPACTION.summary,
      requests: 1,
      output: COMPACTION.summary,
      seconds: 60,
    }
    cost += expectedCost(price, expectedTokens(part, context, isWarm))
    cost += expectedCost(price, expectedTokens({ ...summary, added: 0 }, LINES.point, true))
    // The rest, and what must be found again. It shrinks each time, so this ends.
    left = times(left, 1 - share + share * COMPACTION.lost)
    context = base + COMPACTION.summary
    isWarm = false
    compactions += 1
  }
  cost += expectedCost(price, expectedTokens(left, context, isWarm))
  return { cost, context: context + left.added, compactions }
}

function times(work: ExpectedWork, factor: number): ExpectedWork {
  return {
    added: work.added * factor,
    requests: work.requests * factor,
    output: work.output * factor,
    seconds: work.seconds * factor,
  }
}

export interface Result {
  readonly cost: number
  readonly tasks: number
  readonly conversations: number
  readonly compactions: number
  readonly finished: readonly FinishedTask[]
}

/** Whether the task at this index continues the current conversation. */
type Policy = (
  standing: ConversationLoad,
  world: World,
  at: number,
  finished: readonly FinishedTask[],
) => { stay: boolean; forecast?: number }

const byMode =
  (mode: 'forecast' | 'fixed', settings: PlanSettings = DEFAULT_PLAN): Policy =>
  (standing, { order }, at, finished) => {
    const forecasts = forecastsFrom(finished)
    const { stay } = decideRotation(
      standing,
      order[at]!,
      order.slice(at + 1),
      forecasts,
      mode,
      settings,
    )
    return { stay, forecast: marginOf(order[at]!, forecasts, !stay) }
  }

const batchOf = (places: number): PlanSettings => ({
  ...DEFAULT_PLAN,
  batch: { ...DEFAULT_PLAN.batch, places },
})

export const POLICIES = {
  planner: byMode('forecast'),
  'fixed-3': byMode('fixed', batchOf(3)),
  'fixed-5': byMode('fixed', batchOf(5)),
  'one-per-task': () => ({ stay: false }),
  'never-rotate': () => ({ stay: true }),
} satisfies Record<string, Policy>

export function work(world: World, policy: Policy, history: readonly FinishedTask[] = []): Result {
  const { order, base, price } = world
  const beginning: ConversationLoad = { ...LINES, context: 0, base, price, done: [], isWarm: true }
  let standing = beginning
  const finished = [...history]
  const sum = { cost: 0, tasks: order.length, conversations: 0, compactions: 0 }
  for (const [at, task] of order.entries()) {
    const { stay, forecast } = policy(
      { ...standing, isWarm: world.isWarm[at]! },
      world,
      at,
      finished,
    )
    const isFirst = !stay || standing.context === 0
    const begun = isFirst
      ? { context: base, isWarm: false }
      : { context: standing.context, isWarm: world.isWarm[at]! }
    const real = isFirst ? addWork(world.work[at]!, world.start) : world.work[at]!
    const outcome = workOff(world, real, begun)
    sum.cost += outcome.cost
    sum.conversations += isFirst ? 1 : 0
    sum.compactions += outcome.compactions
    const wasCompacted = outcome.compactions > 0
    finished.push({
      sizeClass: task.sizeClass,
      added: Math.round(wasCompacted ? LINES.point - begun.context : real.added),
      requests: Math.round(real.requests),
      output: Math.round(real.output),
      seconds: Math.round(real.seconds),
      wasCompacted,
      wasFirst: isFirst,
      ...(forecast === undefined ? {} : { forecast }),
    })
    standing = {
      ...beginning,
      context: outcome.context,
      done: isFirst ? [task] : [...standing.done, task],
    }
  }
  return { ...sum, finished }
}

/** Whether a task may continue a conversation that began with another one. */
export type MayJoin = (context: number, from: number, at: number) => boolean

/** The planner's rules without a margin. */
export function ruled({ order }: World): MayJoin {
  return (context, from, at) =>
    context < LINES.smartZone && relationToAll(order[at]!, order.slice(from, at)) !== 'unrelated'
}

/** The minimum cost of the order in hindsight, over every split into conversations. */
export function leastCost(world: World, mayJoin: MayJoin): number {
  const { order, base } = world
  const least = Array.from({ length: order.length + 1 }, () => 0)
  for (let from = order.length - 1; from >= 0; from -= 1) {
    let [context, cost, best] = [base, 0, Infinity]
    for (let at = from; at < order.length; at += 1) {
      const isFirst = at === from
      if (!isFirst && !mayJoin(context, from, at)) break
      const real = isFirst ? addWork(world.work[at]!, world.start) : world.work[at]!
      const outcome = workOff(world, real, { context, isWarm: !isFirst && world.isWarm[at]! })
      cost += outcome.cost
      context = outcome.context
      best = Math.min(best, cost + least[at + 1]!)
    }
    least[from] = best
  }
  return least[0]!
}

/** The cost of the plan with the final forecasts, and the minimum for the same forecasts. */
export function planned(
  world: World,
  finished: readonly FinishedTask[],
): { cost: number; least: number } {
  const { order, base, price } = world
  const forecasts = forecastsFrom(finished)
  const beginning = { ...LINES, context: 0, base, price, done: [], isWarm: true }
  const sessions = planSessions(order, beginning, forecasts, 'forecast')
  const expected: World = {
    ...world,
    work: order.map(({ sizeClass }) => expectedWork(forecasts.bySize[sizeClass])),
    isWarm: order.map(() => true),
    start: forecasts.startup,
  }
  const isAllowed = ruled(expected)
  const least = leastCost(
    expected,
    (context, from, at) =>
      isAllowed(context, from, at) &&
      context + forecasts.bySize[order[at]!.sizeClass].added.margin <= LINES.point,
  )
  return { cost: sessions.reduce((sum, session) => sum + session.usd!, 0), least }
}
