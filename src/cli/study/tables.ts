// The comparison matrix of the study, with the figures of this one and a column for each arm. Its column of keeping nothing but what is in
// memory was never simulated, and stands as it stood.
import { upperBound } from './arms.ts'
import { COMPLEXITIES } from './parameters.ts'
import type {
  Arm,
  ArmName,
  Costs,
  Failures,
  Figures,
  Rate,
  Sensitivity,
  Study,
} from './contract.ts'
import { change } from './ratio.ts'
import {
  ARM_WORDS,
  amount,
  atLeast,
  atMost,
  millions,
  percent,
  ratioWords,
  signed,
  signedPercent,
} from './words.ts'

/** Rows of words under a head, to be drawn for a terminal, a page or a document. The first column names the row. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const NOTHING = '–'

interface Row {
  readonly what: string
  readonly cell: (arm: Arm) => string
}

const FIGURES: readonly Row[] = [
  { what: 'writes a session', cell: ({ figures }) => amount(figures.writes, 1) },
  { what: 'tokens a session', cell: ({ figures }) => amount(figures.tokens) },
  { what: 'tokens in all', cell: ({ figures }) => millions(figures.totalTokens) },
  { what: 'API calls', cell: ({ figures }) => amount(figures.apiCalls, 1) },
  { what: 'minutes, mean', cell: ({ figures }) => amount(figures.minutes.mean, 1) },
  { what: 'minutes, half below', cell: ({ figures }) => amount(figures.minutes.p50, 1) },
  { what: 'minutes, 95 % below', cell: ({ figures }) => amount(figures.minutes.p95, 1) },
  { what: 'cognitive load', cell: ({ figures }) => percent(figures.cognitiveLoad) },
  { what: 'traceability', cell: ({ figures }) => percent(figures.traceability) },
  { what: 'success', cell: (arm) => atLeast(arm, percent(arm.figures.success)) },
]

export function figuresTable({ arms }: Study): Table {
  return tableOf(arms, FIGURES)
}

const CHANGES: readonly { readonly what: string; readonly of: (figures: Figures) => number }[] = [
  { what: 'writes', of: ({ writes }) => writes },
  { what: 'tokens', of: ({ tokens }) => tokens },
  { what: 'API calls', of: ({ apiCalls }) => apiCalls },
  { what: 'minutes, half below', of: ({ minutes }) => minutes.p50 },
  { what: 'cognitive load', of: ({ cognitiveLoad }) => cognitiveLoad },
  { what: 'traceability', of: ({ traceability }) => traceability },
  { what: 'success', of: ({ success }) => success },
]

/** Each arm against `none`. */
export function changesTable({ arms }: Study): Table {
  const none = arms[0]!.figures
  const rows = CHANGES.map(({ what, of }) => ({
    what,
    cell: ({ figures }: Arm) => signedPercent(change(of(none), of(figures))),
  }))
  const more = (arm: Arm) => signed(arm.figures.totalTokens - none.totalTokens, millions)
  return tableOf(arms.slice(1), [...rows, { what: 'tokens in all', cell: more }])
}

export function failuresTable({ arms }: Study): Table {
  const count = (of: (figures: Figures) => number) => (arm: Arm) =>
    atMost(arm, amount(of(arm.figures)))
  const share = (arm: Arm) =>
    atMost(arm, percent(failuresOf(arm.figures) / Math.max(1, arm.figures.sessions)))
  return tableOf(arms, [
    { what: 'stale', cell: count(({ stale }) => stale) },
    { what: 'conflicts', cell: count(({ conflicts }) => conflicts) },
    { what: 'unreadable', cell: count(({ unreadable }) => unreadable) },
    { what: 'in all, a session', cell: share },
  ])
}

export function failuresOf({ stale, conflicts, unreadable }: Figures): number {
  return stale + conflicts + unreadable
}

export function complexityTable({ arms }: Study): Table {
  const rows = COMPLEXITIES.flatMap((complexity): readonly Row[] => [
    {
      what: `${complexity}: sessions`,
      cell: ({ byComplexity }) => amount(byComplexity[complexity].sessions),
    },
    {
      what: `${complexity}: tokens`,
      cell: ({ byComplexity }) => amount(byComplexity[complexity].tokens),
    },
    {
      what: `${complexity}: success`,
      cell: (arm) => atLeast(arm, percent(arm.byComplexity[complexity].success)),
    },
  ])
  return tableOf(arms, rows)
}

const COST_WORDS: Readonly<Record<keyof Costs, string>> = {
  writes: 'writes',
  tokens: 'tokens',
  cognitiveLoad: 'cognitive load',
  success: 'success lost',
}

/** What each ratio is made of. */
export function ratioTable({ arms }: Study): Table {
  const costs = (Object.keys(COST_WORDS) as (keyof Costs)[]).map((name) => ({
    what: `cost: ${COST_WORDS[name]}`,
    cell: ({ ratio }: Arm) => percent(ratio!.costs[name]),
  }))
  return tableOf(arms.slice(1), [
    ...costs,
    { what: 'benefit', cell: ({ ratio }) => percent(ratio!.benefit) },
    { what: 'form', cell: ({ ratio }) => ratio!.form },
    { what: 'ratio', cell: ({ ratio }) => `${ratioWords(ratio!.value)} : 1` },
    { what: 'verdict', cell: ({ ratio }) => ratio!.verdict },
  ])
}

/** What was measured of Stint's failures, what each rate is at most, and what the same trials found of a session.json. */
export function ratesTable({ measurement, bounds }: Study): Table {
  const row = (what: string, name: keyof Failures) => [
    what,
    countOf(measurement[name]),
    `≤ ${percent(bounds[name], 3)}`,
    countOf(measurement.control[name]),
  ]
  return {
    head: ['', 'stint', 'at most (95 %)', 'session.json'],
    rows: [
      row('stale after a kill', 'stale'),
      row('conflict of writers at once', 'conflicts'),
      row('unreadable after a write cut short', 'unreadable'),
    ],
  }
}

/** What was measured of whole sessions. */
export function measuredTable({ measurement }: Study): Table {
  return {
    head: [
      '',
      'sessions',
      'tasks',
      'writes',
      'bytes',
      'commands',
      'tokens',
      'given back',
      'at least (95 %)',
      'the rest shown on demand',
    ],
    rows: COMPLEXITIES.map((complexity) => {
      const { sessions, tasks, writes, bytes, commands, tokens, givenBack, shownOnDemand } =
        measurement.sessions[complexity]
      return [
        complexity,
        amount(sessions),
        amount(tasks, 1),
        amount(writes, 1),
        amount(bytes),
        amount(commands, 1),
        amount(tokens),
        givenBack.trials === 0
          ? NOTHING
          : `${percent(givenBack.happened / givenBack.trials)} (${countOf(givenBack)})`,
        percent(
          1 -
            upperBound({
              happened: givenBack.trials - givenBack.happened,
              trials: givenBack.trials,
            }),
        ),
        countOf(shownOnDemand),
      ]
    }),
  }
}

function countOf({ happened, trials }: Rate): string {
  return trials === 0 ? NOTHING : `${amount(happened)} of ${amount(trials)}`
}

/** Which part of each arm's costs is which. */
export function sharesTable({ shares }: Sensitivity): Table {
  return {
    head: ['of the costs', ...shares.map(({ name }) => ARM_WORDS[name])],
    rows: (Object.keys(COST_WORDS) as (keyof Costs)[]).map((cost) => [
      COST_WORDS[cost],
      ...shares.map((arm) => percent(arm[cost])),
    ]),
  }
}

export function sensitivityTable({ rows }: Sensitivity): Table {
  return {
    head: ['ratio', ...rows[0]!.arms.map(({ name }) => ARM_WORDS[name])],
    rows: rows.map(({ what, arms }) => [what, ...arms.map(({ ratio }) => ratioWords(ratio))]),
  }
}

/** How often a session has to be interrupted until what is given back is as many tokens as keeping it took. */
export function paysTable({ paysFrom }: Sensitivity): Table {
  return {
    head: ['', ...paysFrom.map(({ name }) => ARM_WORDS[name])],
    rows: [['interruptions a session', ...paysFrom.map(({ share }) => amount(share, 2))]],
  }
}

function tableOf(arms: readonly Arm[], rows: readonly Row[]): Table {
  return {
    head: ['', ...arms.map(({ name }) => ARM_WORDS[name])],
    rows: rows.map(({ what, cell }) => [what, ...arms.map(cell)]),
  }
}

interface Column {
  readonly head: string
  readonly cells: Readonly<Record<string, string>>
}

const ASPECTS = [
  'file writes',
  'token overhead',
  'cognitive load',
  'staleness',
  'sync conflicts',
  'parse errors',
  'recovery',
  'parallel support',
  'traceability',
  'success',
  'maintenance',
  'recommended by the study',
] as const

type Aspect = (typeof ASPECTS)[number]

/** What is no figure. Of Stint: what each of these is there. */
const SAID: Readonly<Record<ArmName, Partial<Record<Aspect, string>>>> = {
  none: { recovery: 'git status', maintenance: 'low', 'recommended by the study': '✓' },
  'session-json': {
    recovery: 'session.json',
    maintenance: 'high',
    'recommended by the study': '✗',
  },
  'enhanced-log': { recovery: 'workflow log', maintenance: 'low', 'recommended by the study': '✓' },
  'plan-once': { recovery: 'session.json', maintenance: 'low', 'recommended by the study': '–' },
  stint: {
    recovery: 'stint resume',
    maintenance: 'stint ledger --maintenance',
    'recommended by the study': '–',
  },
}

const IN_MEMORY: Column = {
  head: 'in memory',
  cells: {
    'file writes': '1',
    'token overhead': '0 %',
    'cognitive load': '0 %',
    staleness: '0 %',
    'sync conflicts': '0 %',
    'parse errors': '0 %',
    recovery: 'git status',
    'parallel support': '✓',
    traceability: '85 %',
    success: '87.9 %',
    maintenance: 'minimal',
    'recommended by the study': '✓',
  } satisfies Record<Aspect, string>,
}

export function matrixOf({ arms }: Study): Table {
  const none = arms[0]!
  const own = arms.map((arm) => columnOf(none, arm))
  // Where it stood in the study: behind the log.
  const columns = [...own.slice(0, 3), IN_MEMORY, ...own.slice(3)]
  return {
    head: ['aspect', ...columns.map(({ head }) => head)],
    rows: ASPECTS.map((aspect) => [aspect, ...columns.map(({ cells }) => cells[aspect] ?? '')]),
  }
}

function columnOf(none: Arm, arm: Arm): Column {
  const { figures } = arm
  const share = (count: number) =>
    atMost(arm, percent(count / Math.max(1, figures.sessions), arm.basis === 'measured' ? 2 : 1))
  const cells: Partial<Record<Aspect, string>> = {
    'file writes': amount(figures.writes, 1),
    'token overhead': signedPercent(change(none.figures.tokens, figures.tokens)),
    'cognitive load':
      arm.name === 'none'
        ? 'baseline'
        : signedPercent(change(none.figures.cognitiveLoad, figures.cognitiveLoad)),
    staleness: share(figures.stale),
    'sync conflicts': share(figures.conflicts),
    'parse errors': share(figures.unreadable),
    'parallel support': '✓',
    traceability: percent(figures.traceability),
    success: atLeast(arm, percent(figures.success)),
    ...SAID[arm.name],
  }
  return { head: ARM_WORDS[arm.name], cells }
}
