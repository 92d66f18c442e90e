import type { PlannedTask } from './order-tasks.ts'
import type { SizeClass } from '../../project/config/run-config.ts'

export interface FinishedTask {
  readonly sizeClass: SizeClass
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
  /** Then `added` is a lower bound. */
  readonly wasCompacted: boolean
  /** The first task of a conversation also pays the start-up cost. */
  readonly wasFirst: boolean
  /** The `marginOf` forecast made before the task. */
  readonly forecast?: number
}

export interface Forecast {
  /** Tokens: half the tasks add less than the first, nearly all less than the second. */
  readonly added: { readonly middle: number; readonly margin: number }
  readonly requests: number
  readonly output: number
  readonly seconds: number
  /** `history`: from so many tasks of this project; `prior`: from the built-in table. */
  readonly from: { readonly source: 'history' | 'prior'; readonly count: number }
}

/** What getting oriented adds to the first task of a conversation. */
export interface StartupCost {
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
}

export interface Forecasts {
  readonly bySize: Readonly<Record<SizeClass, Forecast>>
  readonly startup: StartupCost
  /** The start-up cost, estimated higher while it is uncertain. */
  readonly weighedStartup: StartupCost
}

/** With this many tasks of a class, its forecast counts as the project's own. */
export const ENOUGH_TASKS = 5

/** The prior weighs as much as this many tasks of the project. */
const PRIOR_WEIGHT = 6
/** A project may differ from the table by this factor, either way. */
const MOST_SCALE = 4
/** Caps one runaway task at this multiple of the expected value. */
const RUNAWAY_FACTOR = 4
/** The initial share of tasks that stay below the margin. */
const MARGIN = 0.95

// Quantiles of the normal distribution: 5, 10, … 95 %.
const HALF = [0.1257, 0.2533, 0.3853, 0.5244, 0.6745, 0.8416, 1.0364, 1.2816, 1.6449]
const SCORES = [...HALF.map((score) => -score).toReversed(), 0, ...HALF]

type CostField = keyof StartupCost

export function forecastsFrom(finished: readonly FinishedTask[]): Forecasts {
  const history = summarizeHistory(finished)
  const of = {
    small: forecastIn('small', history),
    medium: forecastIn('medium', history),
    large: forecastIn('large', history),
  }
  return { bySize: of, startup: history.startup, weighedStartup: history.weighedStartup }
}

/** The forecast that is compared with the real size afterwards. */
export function marginOf(
  task: Pick<PlannedTask, 'sizeClass'>,
  forecasts: Forecasts,
  isFirst: boolean,
): number {
  return forecasts.bySize[task.sizeClass].added.margin + (isFirst ? forecasts.startup.added : 0)
}

interface History {
  readonly tasks: readonly FinishedTask[]
  readonly startup: StartupCost
  readonly weighedStartup: StartupCost
  readonly margin: number
  readonly scale: Readonly<Record<CostField, number>>
}

function summarizeHistory(finished: readonly FinishedTask[]): History {
  const history = usableTasks(finished)
  const { expected: startup, weighed: weighedStartup } = startupCostFrom(history)
  const tasks = history.map((task) => (task.wasFirst ? withoutStart(task, startup) : task))
  const scale = mapCostFields((figure) => scaleOf(tasks, figure))
  return {
    tasks,
    startup,
    weighedStartup,
    margin: learnedMargin(history),
    scale,
  }
}

function mapCostFields(of: (figure: CostField) => number): Readonly<Record<CostField, number>> {
  return {
    added: of('added'),
    requests: of('requests'),
    output: of('output'),
    seconds: of('seconds'),
  }
}

function withoutStart(task: FinishedTask, start: StartupCost): FinishedTask {
  // Never down to zero: the task also did its own work.
  return {
    ...task,
    ...mapCostFields((figure) => Math.max(task[figure] / 4, task[figure] - start[figure])),
  }
}

function scaleOf(tasks: readonly FinishedTask[], figure: CostField): number {
  const logs = tasks.map((task) => {
    const log = Math.log(Math.max(1, task[figure]) / PRIORS[task.sizeClass][figure])
    // A lower bound does not show that a task took less than usual.
    return task.wasCompacted ? Math.max(0, log) : log
  })
  const most = Math.log(MOST_SCALE)
  const mean = logs.reduce((sum, log) => sum + log, 0) / (logs.length + PRIOR_WEIGHT)
  return Math.exp(Math.min(most, Math.max(-most, mean)))
}

function forecastIn(sizeClass: SizeClass, { tasks, scale, margin }: History): Forecast {
  const ofClass = tasks.filter((task) => task.sizeClass === sizeClass)
  const prior = PRIORS[sizeClass]
  const samples: readonly Sample[] = [
    ...SCORES.map((score) => ({
      value: prior.added * scale.added * Math.exp(score * prior.spread.added),
      weight: PRIOR_WEIGHT / SCORES.length,
      isAtLeast: false,
    })),
    ...ofClass.map((task) => ({ value: task.added, weight: 1, isAtLeast: task.wasCompacted })),
  ]
  const middle = quantileOf(samples, 0.5)
  const usual = (figure: Exclude<CostField, 'added'>) =>
    average(ofClass, figure, prior, scale[figure])
  return {
    added: {
      middle: Math.round(middle),
      margin: Math.round(Math.max(middle, quantileOf(samples, MARGIN) * margin)),
    },
    requests: usual('requests'),
    output: usual('output'),
    seconds: usual('seconds'),
    from: { source: ofClass.length >= ENOUGH_TASKS ? 'history' : 'prior', count: ofClass.length },
  }
}

/** The mean and not the median, because costs add up. */
function average(
  tasks: readonly FinishedTask[],
  figure: Exclude<CostField, 'added'>,
  prior: Prior,
  scale: number,
): number {
  const expected = prior[figure] * scale * Math.exp(prior.spread.requests ** 2 / 2)
  const sum = tasks.reduce(
    (sum, task) => sum + Math.min(task[figure], RUNAWAY_FACTOR * expected),
    PRIOR_WEIGHT * expected,
  )
  return sum / (tasks.length + PRIOR_WEIGHT)
}

// Where a project has no history: log-normal distributions fitted to a published ledger of 128 attempts by coding agents, each
// a conversation of its own. At the 10th, 25th, 50th, 75th and 90th percentile it has
//
//   written to the cache    20,491     44,189     59,997     81,845     95,628
//   read from the cache    520,317  1,258,973  1,938,023  3,304,007  5,262,555
//   output                   3,627      7,871     13,282     18,483     24,247
//   seconds                    173        270        345        487        688
//
// Assumed: a conversation began with 12,000 tokens; requests are what was read divided by the mean context; in the smallest
// tenth, the start-up took a third of the requests and half of the tokens; 35 % of the tasks were small, 45 % medium and
// 20 % large. A test derives the table again.

/** Medians. */
interface Prior extends StartupCost {
  /** The standard deviation of the logarithm: of the tokens added, and of the rest. */
  readonly spread: { readonly added: number; readonly requests: number }
}

export const PRIORS: Readonly<Record<SizeClass, Prior>> = {
  small: {
    added: 14_000,
    requests: 24,
    output: 3_900,
    seconds: 155,
    spread: { added: 0.8, requests: 0.58 },
  },
  medium: {
    added: 49_000,
    requests: 44,
    output: 15_000,
    seconds: 280,
    spread: { added: 0.3, requests: 0.26 },
  },
  large: {
    added: 68_000,
    requests: 90,
    output: 17_000,
    seconds: 575,
    spread: { added: 0.37, requests: 0.3 },
  },
}

export const PRIOR_STARTUP: StartupCost = { added: 5_000, requests: 12, output: 1_500, seconds: 75 }

export const PRIOR_BASE = 12_000

interface Sample {
  readonly value: number
  readonly weight: number
  readonly isAtLeast: boolean
}

/** Kaplan-Meier estimate, because some samples are only lower bounds. */
export function quantileOf(samples: readonly Sample[], share: number): number {
  const sorted = samples.toSorted(
    (a, b) => a.value - b.value || Number(a.isAtLeast) - Number(b.isAtLeast),
  )
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let above = 1
  for (const { value, weight, isAtLeast } of sorted) {
    if (!isAtLeast) above *= left > weight ? 1 - weight / left : 0
    left -= weight
    // Sums of fractions are inexact.
    if (1 - above >= share - 1e-9) return value
  }
  return sorted.at(-1)?.value ?? 0
}

const REMEMBERED = 200
const LARGEST_FIGURE = 1_000_000_000

/** A log may contain impossible values. */
function usableTasks(finished: readonly FinishedTask[]): readonly FinishedTask[] {
  return finished.slice(-REMEMBERED).filter(({ added, requests, output, seconds, sizeClass }) => {
    const isPossible = (figure: number) => figure >= 0 && figure <= LARGEST_FIGURE
    return (
      Object.hasOwn(PRIORS, sizeClass) &&
      [added, requests, output, seconds].every(isPossible) &&
      added >= 1
    )
  })
}

/** The standard deviation of the prior, as a share of it. */
const PRIOR_DEVIATION = 1
const LARGEST_FACTOR = 5

/** Standard deviations added to the start-up cost: a planner that thinks starts are cheap always rotates and never learns their cost. */
const CAUTION = 0.5

/** How much more first tasks took than later ones of their class, combined with the prior by inverse variance. */
export function startupCostFrom(finished: readonly FinishedTask[]): {
  readonly expected: StartupCost
  readonly weighed: StartupCost
} {
  const uncompacted = usableTasks(finished).filter((task) => !task.wasCompacted)
  const [added, requests] = [learned(uncompacted, 'added'), learned(uncompacted, 'requests')]
  return {
    expected: startupCost(added.value, requests.value),
    weighed: startupCost(
      added.value + CAUTION * added.doubt,
      requests.value + CAUTION * requests.doubt,
    ),
  }
}

/** Output and seconds are proportional to the requests. */
function startupCost(added: number, requests: number): StartupCost {
  const share = requests / PRIOR_STARTUP.requests
  return {
    added,
    requests,
    output: PRIOR_STARTUP.output * share,
    seconds: PRIOR_STARTUP.seconds * share,
  }
}

function learned(
  finished: readonly FinishedTask[],
  measure: 'added' | 'requests',
): { value: number; doubt: number } {
  const prior = PRIOR_STARTUP[measure]
  let certainty = 1 / (PRIOR_DEVIATION * prior) ** 2
  let sum = prior * certainty
  for (const sizeClass of Object.keys(PRIORS) as SizeClass[]) {
    const ofClass = finished.filter((task) => task.sizeClass === sizeClass)
    const first = ofClass.filter((task) => task.wasFirst).map((task) => task[measure])
    const later = ofClass.filter((task) => !task.wasFirst).map((task) => task[measure])
    if (first.length === 0 || later.length === 0) continue
    const { spread } = PRIORS[sizeClass]
    const variance = (mean(ofClass.map((task) => task[measure])) * spread[measure]) ** 2 || 1
    const weight = (first.length * later.length) / (first.length + later.length) / variance
    sum += (mean(first) - mean(later)) * weight
    certainty += weight
  }
  return {
    value: Math.min(LARGEST_FACTOR * prior, Math.max(0, sum / certainty)),
    doubt: 1 / Math.sqrt(certainty),
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Bounds for the factor between the quantile and the margin. */
export const NARROWEST = 0.8
export const WIDEST = 2

/** The share of tasks that may exceed their margin. */
const MAY_EXCEED = 0.05
/** The learning rate, as a step of the logarithm. */
const STEP = 0.3

/** Grows by a third after a task that exceeded its margin and shrinks by 1.5 % otherwise, so that one in twenty exceeds it. */
export function learnedMargin(finished: readonly FinishedTask[]): number {
  let log = 0
  for (const { forecast, added, wasCompacted } of finished) {
    if (forecast === undefined || !(forecast > 0) || !Number.isFinite(forecast)) continue
    const exceeded = wasCompacted || added > forecast
    log += STEP * (exceeded ? 1 - MAY_EXCEED : -MAY_EXCEED)
    log = Math.min(Math.log(WIDEST), Math.max(Math.log(NARROWEST), log))
  }
  return Math.exp(log)
}
