// The planner's results on generated backlogs, as `npm run bench` and the planning docs show them.
import { readFileSync } from 'node:fs'
import { formatInteger } from '../../src/text/format-amounts.ts'
import { findPrice } from '../../src/context/budget/prices.ts'
import {
  type FinishedTask,
  PRIOR_BASE,
  type StartupCost,
  forecastsFrom,
} from '../../src/run/plan/forecast.ts'
import {
  DEFAULT_PLAN,
  type SizeClass,
  batchPlacesFor,
} from '../../src/project/config/run-config.ts'
import { addWork, expectedCost, expectedTokens, expectedWork } from '../../src/run/plan/rotation.ts'
import {
  POLICIES,
  type Setting,
  type World,
  leastCost,
  makeWorld,
  planned,
  ruled,
  work,
} from './simulation.ts'

/** The limits the tests enforce. */
export const MOST_OVER_LEAST = 1.1
export const MOST_COMPACTIONS = 0.01

/** Other seeds, all below this, were used while the planner was developed. */
const FIRST_SEED = 10_000

export type PolicyName = keyof typeof POLICIES
export const RIVALS = [
  'fixed-3',
  'fixed-5',
  'one-per-task',
  'never-rotate',
] as const satisfies readonly PolicyName[]

export interface PolicyFigures {
  /** Dollars per task, over all backlogs. */
  readonly cost: number
  /** Relative to the minimum in hindsight; the mean over backlogs. */
  readonly overLeast: number
  readonly compactions: number
  readonly tasksEach: number
}

export interface Figures {
  readonly tasks: number
  readonly of: Readonly<Record<PolicyName, PolicyFigures>>
  /** The cost of a plan relative to the minimum for the same order and forecasts; the mean over backlogs. */
  readonly planOverLeast: number
  /** Dollars per task. */
  readonly least: { readonly ruled: number; readonly free: number }
}

export function figuresOf(backlogs: number, setting: Setting = {}): Figures {
  const worlds = someWorlds(backlogs, setting)
  const tasks = sum(worlds.map(({ order }) => order.length))
  const least = worlds.map((world) => leastCost(world, ruled(world)))
  const free = worlds.map((world) => leastCost(world, () => true))
  const results = (name: PolicyName) => worlds.map((world) => work(world, POLICIES[name]))
  const figures = (all: ReturnType<typeof results>): PolicyFigures => ({
    cost: sum(all.map(({ cost }) => cost)) / tasks,
    overLeast: mean(all.map(({ cost }, index) => cost / least[index]!)),
    compactions: sum(all.map(({ compactions }) => compactions)) / tasks,
    tasksEach: tasks / sum(all.map(({ conversations }) => conversations)),
  })
  const planner = worlds.map((world, index) =>
    work(world, POLICIES.planner, historyOf(FIRST_SEED + index, setting)),
  )
  const plans = worlds.map((world, index) => planned(world, planner[index]!.finished))
  return {
    tasks,
    of: {
      planner: figures(planner),
      'fixed-3': figures(results('fixed-3')),
      'fixed-5': figures(results('fixed-5')),
      'one-per-task': figures(results('one-per-task')),
      'never-rotate': figures(results('never-rotate')),
    },
    planOverLeast: mean(plans.map((plan) => plan.cost / plan.least)),
    least: { ruled: sum(least) / tasks, free: sum(free) / tasks },
  }
}

/** The tasks the planner finished in earlier backlogs, in order. */
function historyOf(seed: number, setting: Setting): readonly FinishedTask[] {
  let history: readonly FinishedTask[] = []
  for (let backlog = 1; backlog <= (setting.earlier ?? 0); backlog += 1) {
    history = work(makeWorld(seed, setting, backlog), POLICIES.planner, history).finished
  }
  return history
}

function someWorlds(backlogs: number, setting: Setting): readonly World[] {
  return Array.from({ length: backlogs }, (_, index) => makeWorld(FIRST_SEED + index, setting))
}

export const BACKLOGS = 500
/** Fewer for each of the other assumptions, since each takes as long again. */
export const FEWER = 60

const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9]

/** The ledger that priors.ts was fitted to. */
const LEDGER = {
  'written to the cache': [20_491, 44_189, 59_997, 81_845, 95_628],
  'read from the cache': [520_317, 1_258_973, 1_938_023, 3_304_007, 5_262_555],
  output: [3_627, 7_871, 13_282, 18_483, 24_247],
  seconds: [173, 270, 345, 487, 688],
}

/** The percentiles of generated tasks, one conversation each, beside those of the ledger. */
export function calibration(
  backlogs: number,
): readonly { name: string; ledger: readonly number[]; made: readonly number[] }[] {
  const attempts = someWorlds(backlogs, {}).flatMap((world) =>
    world.work.map((each) => {
      const whole = addWork(each, world.start)
      const { cacheWritten, cacheRead, output } = expectedTokens(whole, PRIOR_BASE, false)
      return {
        'written to the cache': cacheWritten,
        'read from the cache': cacheRead,
        output,
        seconds: whole.seconds,
      }
    }),
  )
  return (Object.keys(LEDGER) as (keyof typeof LEDGER)[]).map((name) => {
    const sorted = attempts.map((attempt) => attempt[name]).toSorted((a, b) => a - b)
    return {
      name,
      ledger: LEDGER[name],
      made: PERCENTILES.map((share) => sorted[Math.floor(share * sorted.length)]!),
    }
  })
}

const PAGE = new URL('../../docs/planning.md', import.meta.url)

export function planningPage(): string {
  return readFileSync(PAGE, 'utf8')
}

/** The page with regenerated tables. */
export function countedPage(): string {
  const tables = {
    sizes: sizeTable(),
    example: exampleTable(),
    figures: figureTable(),
    assumptions: assumptionTable(),
    calibration: calibrationTable(),
  }
  return Object.entries(tables).reduce(
    (page, [name, table]) => withTable(page, name, table),
    planningPage(),
  )
}

function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  // A page without a table would always pass.
  if (from === -1 || to === -1) throw new Error(`the page has no place for the table of ${name}`)
  return `${page.slice(0, from)}${begin}${table}${page.slice(to)}`
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const ruleFor = (cells: readonly string[]) => `|${cells.map(() => '---').join('|')}|`

function sizeTable(): string {
  const { smallUpTo, largeFrom } = DEFAULT_PLAN.length
  const criteria = {
    small: ['XS, S', `up to ${formatInteger(smallUpTo)} characters`],
    medium: ['M', 'more than that'],
    large: ['L, XL', `from ${formatInteger(largeFrom)} characters on`],
  }
  const forecasts = forecastsFrom([])
  const head = [
    '',
    'size',
    'without a size',
    'half add less than',
    'nearly all less than',
    'requests',
    'output',
    'minutes',
    'places in a fixed batch',
  ]
  const rows = (['small', 'medium', 'large'] as const).map((sizeClass) => {
    const { added, requests, output, seconds } = forecasts.bySize[sizeClass]
    const places = batchPlacesFor(sizeClass, DEFAULT_PLAN)
    return [
      sizeClass,
      ...criteria[sizeClass],
      rounded(added.middle),
      rounded(added.margin),
      rounded(requests),
      rounded(output),
      (seconds / 60).toFixed(1),
      `${places}`,
    ]
  })
  const { added, requests, output, seconds } = forecasts.startup
  const start = [
    'finding one’s way, once a conversation',
    '',
    '',
    rounded(added),
    '',
    rounded(requests),
    rounded(output),
    (seconds / 60).toFixed(1),
    '',
  ]
  return [row(head), ruleFor(head), ...rows.map(row), row(start)].join('\n')
}

/** A small task after a small one and after a medium one: its cost there, and in a fresh conversation. */
function exampleTable(): string {
  const { bySize, startup, weighedStartup } = forecastsFrom([])
  const { price } = findPrice('claude-sonnet-4-5', [])!
  const behind = (sizeClass: SizeClass) =>
    PRIOR_BASE + startup.added + bySize[sizeClass].added.middle
  const places: readonly (readonly [string, number, StartupCost | undefined])[] = [
    ['behind a small task', behind('small'), undefined],
    ['behind a medium task', behind('medium'), undefined],
    ['in a fresh conversation', PRIOR_BASE, weighedStartup],
  ]
  const head = [
    'a small task',
    'begins with',
    'requests',
    'read from the cache',
    'written to it',
    'output',
    'cost',
  ]
  const rows = places.map(([where, context, first]) => {
    const task = expectedWork(bySize.small, first)
    const spent = expectedTokens(task, context, first === undefined)
    const counts = [context, task.requests, spent.cacheRead, spent.cacheWritten, spent.output].map(
      formatInteger,
    )
    return [where, ...counts, `$${expectedCost(price, spent).toFixed(3)}`]
  })
  return [row(head), ruleFor(head), ...rows.map(row)].join('\n')
}

function figureTable(): string {
  const { of, least, planOverLeast, tasks } = figuresOf(BACKLOGS)
  const head = [
    '',
    'a task costs',
    'against the planner',
    'against the best in hindsight',
    'compactions',
    'tasks a conversation',
  ]
  const rows = (['planner', ...RIVALS] as const).map((name) => {
    const { cost, overLeast, compactions, tasksEach } = of[name]
    return [
      name,
      `$${cost.toFixed(3)}`,
      (cost / of.planner.cost).toFixed(3),
      overLeast.toFixed(3),
      percent(compactions),
      tasksEach.toFixed(2),
    ]
  })
  const best = (
    [
      ['best in hindsight', least.ruled],
      ['… and without rules', least.free],
    ] as const
  ).map(([name, cost]) => [
    name,
    `$${cost.toFixed(3)}`,
    (cost / of.planner.cost).toFixed(3),
    '',
    '',
    '',
  ])
  const note = `${BACKLOGS} backlogs, ${tasks} tasks. A plan costs ${planOverLeast.toFixed(3)} times the least for the same order and the same forecasts.`
  return [row(head), ruleFor(head), ...[...rows, ...best].map(row), '', note].join('\n')
}

const OTHERWISE: readonly (readonly [string, Setting])[] = [
  ['as above', {}],
  ['finding one’s way takes half as much', { start: 0.5 }],
  ['… with the history of four backlogs before', { start: 0.5, earlier: 4 }],
  ['finding one’s way takes twice as much', { start: 2 }],
  ['… with the history of four backlogs before', { start: 2, earlier: 4 }],
  ['finding one’s way takes four times as much', { start: 4 }],
  ['four in five tasks are small', { shares: { small: 0.8, medium: 0.15, large: 0.05 } }],
  ['reading the cache costs 5 % of input (claude-sonnet-5-5)', { model: 'claude-sonnet-5-5' }],
  ['reading the cache costs 2.5 % of input (claude-fable-5-1)', { model: 'claude-fable-5-1' }],
]

function assumptionTable(): string {
  const head = ['if', ...RIVALS, 'best in hindsight', 'tasks a conversation']
  const rows = OTHERWISE.map(([name, setting]) => {
    const { of, least } = figuresOf(FEWER, setting)
    const against = (cost: number) => (cost / of.planner.cost).toFixed(3)
    return [
      name,
      ...RIVALS.map((rival) => against(of[rival].cost)),
      against(least.ruled),
      of.planner.tasksEach.toFixed(2),
    ]
  })
  return [row(head), ruleFor(head), ...rows.map(row)].join('\n')
}

function calibrationTable(): string {
  const head = ['', '10 %', '25 %', '50 %', '75 %', '90 %']
  const rows = calibration(BACKLOGS).flatMap(({ name, ledger, made }) => [
    [`${name}: ledger`, ...ledger.map(rounded)],
    ['… made up', ...made.map(rounded)],
  ])
  return [row(head), ruleFor(head), ...rows.map(row)].join('\n')
}

/** Two significant digits, which is as exact as it is. */
function rounded(value: number): string {
  return formatInteger(Number(value.toPrecision(2)))
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}
