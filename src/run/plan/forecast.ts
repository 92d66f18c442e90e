import type {
  FinishedTask,
  Forecast,
  Forecasts,
  PlannedTask,
  SizeClass,
  Start,
} from './contract.ts'
import { learnedMargin } from './learned-margin.ts'
import { PRIORS, type Prior } from './priors.ts'
import { type Sample, quantileOf } from './quantile.ts'
import { startFrom } from './start.ts'
import { usable } from './usable.ts'

/** From so many tasks of a class on, its forecast is called the project's own. */
export const ENOUGH = 5

/** The prior weighs as much as so many tasks of the project. */
const PRIOR_WEIGHT = 6
/** A project may differ from the table this many times, either way. */
const MOST_SCALE = 4
/** One task that ran away is no reason to expect that of the next. */
const RUNAWAY = 4
/** The share of tasks that stay below the margin, before that learns. */
const MARGIN = 0.95

// Of the normal distribution: 5, 10, … 95 %.
const HALF = [0.1257, 0.2533, 0.3853, 0.5244, 0.6745, 0.8416, 1.0364, 1.2816, 1.6449]
const SCORES = [...HALF.map((score) => -score).toReversed(), 0, ...HALF]

type Figure = 'added' | 'requests' | 'output' | 'seconds'

/** What a task of this class will probably take, when it is not the first of its conversation. */
export function forecastFor(sizeClass: SizeClass, finished: readonly FinishedTask[]): Forecast {
  return forecastIn(sizeClass, known(finished))
}

/** The forecasts for every class, and for the start of a conversation. */
export function forecastsFrom(finished: readonly FinishedTask[]): Forecasts {
  const history = known(finished)
  const of = {
    small: forecastIn('small', history),
    medium: forecastIn('medium', history),
    large: forecastIn('large', history),
  }
  return { of, start: history.start, weighedStart: history.weighedStart }
}

/** What a task is to be held against afterwards (`FinishedTask.forecast`): what it adds at the margin. */
export function marginOf(
  task: Pick<PlannedTask, 'sizeClass'>,
  forecasts: Forecasts,
  isFirst: boolean,
): number {
  return forecasts.of[task.sizeClass].added.margin + (isFirst ? forecasts.start.added : 0)
}

/** What is the same for every class. */
interface History {
  /** Without what the first of a conversation takes for finding its way. */
  readonly tasks: readonly FinishedTask[]
  readonly start: Start
  readonly weighedStart: Start
  readonly margin: number
  /** How many times what the table says this project's tasks take. */
  readonly scale: Readonly<Record<Figure, number>>
}

function known(finished: readonly FinishedTask[]): History {
  const history = usable(finished)
  const { expected: start, weighed: weighedStart } = startFrom(history)
  const tasks = history.map((task) => (task.wasFirst ? withoutStart(task, start) : task))
  const scale = (figure: Figure) => scaleOf(tasks, figure)
  return {
    tasks,
    start,
    weighedStart,
    margin: learnedMargin(history),
    scale: {
      added: scale('added'),
      requests: scale('requests'),
      output: scale('output'),
      seconds: scale('seconds'),
    },
  }
}

function withoutStart(task: FinishedTask, start: Start): FinishedTask {
  // Never to nothing: it also did what it was for.
  const less = (figure: Figure) => Math.max(task[figure] / 4, task[figure] - start[figure])
  return {
    ...task,
    added: less('added'),
    requests: less('requests'),
    output: less('output'),
    seconds: less('seconds'),
  }
}

function scaleOf(tasks: readonly FinishedTask[], figure: Figure): number {
  const logs = tasks.map((task) => {
    const log = Math.log(Math.max(1, task[figure]) / PRIORS[task.sizeClass][figure])
    // At least so much: of being less than usual it says nothing.
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
  const usual = (figure: Exclude<Figure, 'added'>) => average(ofClass, figure, prior, scale[figure])
  return {
    added: {
      middle: Math.round(middle),
      margin: Math.round(Math.max(middle, quantileOf(samples, MARGIN) * margin)),
    },
    requests: usual('requests'),
    output: usual('output'),
    seconds: usual('seconds'),
    from: { source: ofClass.length >= ENOUGH ? 'history' : 'prior', count: ofClass.length },
  }
}

/** The mean and not the middle: costs add up. */
function average(
  tasks: readonly FinishedTask[],
  figure: Exclude<Figure, 'added'>,
  prior: Prior,
  scale: number,
): number {
  const expected = prior[figure] * scale * Math.exp(prior.spread.requests ** 2 / 2)
  const sum = tasks.reduce(
    (sum, task) => sum + Math.min(task[figure], RUNAWAY * expected),
    PRIOR_WEIGHT * expected,
  )
  return sum / (tasks.length + PRIOR_WEIGHT)
}
