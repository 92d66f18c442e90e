// The study's tables and notes, the same on the terminal, on the page and in the docs.
import type { Output } from '../context/context.ts'
import { table } from '../print/terminal/layout.ts'
import type { ArmFigures } from './sample-sessions.ts'
import {
  type ArmName,
  type FailureRates,
  type Rate,
  COMPLEXITIES,
  upperBound,
} from './parameters.ts'
import {
  type StudyArm,
  type RelativeCosts,
  type Sensitivity,
  type Study,
  VERDICTS,
  relativeChange,
} from './study.ts'

export const ARM_LABELS: Readonly<Record<ArmName, string>> = {
  none: 'none',
  'session-json': 'session.json',
  'enhanced-log': 'enhanced log',
  'plan-once': 'plan once',
  stint: 'stint',
}

/** `3,184`, `13.8`. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** `87.9 %`. */
export function formatPercent(share: number, digits = 1): string {
  return `${formatNumber(share * 100, digits)} %`
}

/** `+134.5 %`, `−3.0 %`, `0.0 %`. */
export function signedPercent(share: number): string {
  return withSign(share, formatPercent)
}

/** A value that rounds to zero gets no sign. */
function withSign(value: number, write: (value: number) => string) {
  const text = write(Math.abs(value))
  if (!/[1-9]/.test(text)) return text
  return `${value < 0 ? '−' : '+'}${text}`
}

/** `318M`. */
function millions(value: number) {
  return `${formatNumber(value / 1e6, value >= 9_950_000 ? 0 : 1)}M`
}

/** `129.4`, without decimals above a thousand. */
export function formatRatio(value: number): string {
  return formatNumber(value, value >= 1000 ? 0 : 1)
}

/** Figures drawn at the bound of a rate are upper limits. */
export function atMost({ basis }: StudyArm, text: string): string {
  return basis === 'measured' ? `≤ ${text}` : text
}

export function atLeast({ basis }: StudyArm, text: string): string {
  return basis === 'measured' ? `≥ ${text}` : text
}

export const RATIO_FORMS_NOTE =
  'First form: every change of success is a cost. Second form, which the study gave to plan once: a gain is a benefit.'

export const VERDICTS_NOTE = `Its verdicts: ${VERDICTS.map(({ above, verdict }) =>
  above === -Infinity ? `else ${verdict}` : `above ${above} ${verdict}`,
).join(', ')}.`

export function measurementNotes({ measurement: { at, version, machine } }: Study) {
  return [
    `Measured on ${at.slice(0, 10)} with Stint ${version}, ${machine}.`,
    'What never happened in N trials is at most 3/N; what did is bounded exactly (Clopper and Pearson), both with 95 % confidence.',
    'Of session.json: the same trials of one that is read, changed and written back in place, so that it is seen that they find what they look for.',
    'Tokens and writes of Stint are those of a session that two fresh conversations went on with.',
    'Each command of Stint that the agent ran is an API call. Cognitive load was not measured, and is taken for that of none.',
  ]
}

export interface StudyTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

type TableRow = readonly [what: string, cell: (arm: StudyArm) => string]

function armTable(arms: readonly StudyArm[], rows: readonly TableRow[]): StudyTable {
  return {
    head: ['', ...arms.map(({ name }) => ARM_LABELS[name])],
    rows: rows.map(([what, cell]) => [what, ...arms.map(cell)]),
  }
}

export function figuresTable({ arms }: Study): StudyTable {
  return armTable(arms, [
    ['writes a session', ({ figures }) => formatNumber(figures.writes, 1)],
    ['tokens a session', ({ figures }) => formatNumber(figures.tokens)],
    ['tokens in all', ({ figures }) => millions(figures.totalTokens)],
    ['API calls', ({ figures }) => formatNumber(figures.apiCalls, 1)],
    ['minutes, mean', ({ figures }) => formatNumber(figures.minutes.mean, 1)],
    ['minutes, half below', ({ figures }) => formatNumber(figures.minutes.p50, 1)],
    ['minutes, 95 % below', ({ figures }) => formatNumber(figures.minutes.p95, 1)],
    ['cognitive load', ({ figures }) => formatPercent(figures.cognitiveLoad)],
    ['traceability', ({ figures }) => formatPercent(figures.traceability)],
    ['success', (arm) => atLeast(arm, formatPercent(arm.figures.success))],
  ])
}

export function changesTable({ arms }: Study): StudyTable {
  const none = arms[0]!.figures
  const row = (what: string, figureOf: (figures: ArmFigures) => number): TableRow => [
    what,
    ({ figures }) => signedPercent(relativeChange(figureOf(none), figureOf(figures))),
  ]
  return armTable(arms.slice(1), [
    row('writes', ({ writes }) => writes),
    row('tokens', ({ tokens }) => tokens),
    row('API calls', ({ apiCalls }) => apiCalls),
    row('minutes, half below', ({ minutes }) => minutes.p50),
    row('cognitive load', ({ cognitiveLoad }) => cognitiveLoad),
    row('traceability', ({ traceability }) => traceability),
    row('success', ({ success }) => success),
    ['tokens in all', ({ figures }) => withSign(figures.totalTokens - none.totalTokens, millions)],
  ])
}

export const FAILURE_NAMES = ['stale', 'conflicts', 'unreadable'] as const

export function failuresTable({ arms }: Study): StudyTable {
  return armTable(arms, [
    ...FAILURE_NAMES.map((name): TableRow => [
      name,
      (arm) => atMost(arm, formatNumber(arm.figures[name])),
    ]),
    ['in all, a session', (arm) => atMost(arm, formatPercent(failureShare(arm)))],
  ])
}

export function failuresOf({ figures }: StudyArm): number {
  return figures.stale + figures.conflicts + figures.unreadable
}

export function failureShare(arm: StudyArm): number {
  return failuresOf(arm) / Math.max(1, arm.figures.sessions)
}

export function complexityTable({ arms }: Study): StudyTable {
  const rows = COMPLEXITIES.flatMap((complexity): readonly TableRow[] => [
    [`${complexity}: sessions`, (arm) => formatNumber(arm.byComplexity[complexity].sessions)],
    [`${complexity}: tokens`, (arm) => formatNumber(arm.byComplexity[complexity].tokens)],
    [
      `${complexity}: success`,
      (arm) => atLeast(arm, formatPercent(arm.byComplexity[complexity].success)),
    ],
  ])
  return armTable(arms, rows)
}

export const COSTS: readonly { readonly cost: keyof RelativeCosts; readonly name: string }[] = [
  { cost: 'writes', name: 'writes' },
  { cost: 'tokens', name: 'tokens' },
  { cost: 'cognitiveLoad', name: 'cognitive load' },
  { cost: 'success', name: 'success lost' },
]

export function ratioTable({ arms }: Study): StudyTable {
  return armTable(arms.slice(1), [
    ...COSTS.map(({ cost, name }): TableRow => [
      `cost: ${name}`,
      ({ ratio }) => formatPercent(ratio!.costs[cost]),
    ]),
    ['benefit', ({ ratio }) => formatPercent(ratio!.benefit)],
    ['form', ({ ratio }) => ratio!.form],
    ['ratio', ({ ratio }) => `${formatRatio(ratio!.value)} : 1`],
    ['verdict', ({ ratio }) => ratio!.verdict],
  ])
}

export function ratesTable({ measurement, bounds }: Study): StudyTable {
  const row = (what: string, name: keyof FailureRates) => [
    what,
    ratioOfTrials(measurement[name]),
    `≤ ${formatPercent(bounds[name], 3)}`,
    ratioOfTrials(measurement.control[name]),
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

export function measuredTable({ measurement }: Study): StudyTable {
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
      const measured = measurement.sessions[complexity]
      const { happened, trials } = measured.givenBack
      const share = trials === 0 ? '' : `${formatPercent(happened / trials)} `
      return [
        complexity,
        formatNumber(measured.sessions),
        formatNumber(measured.tasks, 1),
        formatNumber(measured.writes, 1),
        formatNumber(measured.bytes),
        formatNumber(measured.commands, 1),
        formatNumber(measured.tokens),
        share === ''
          ? ratioOfTrials(measured.givenBack)
          : `${share}(${ratioOfTrials(measured.givenBack)})`,
        formatPercent(1 - upperBound({ happened: trials - happened, trials })),
        ratioOfTrials(measured.shownOnDemand),
      ]
    }),
  }
}

function ratioOfTrials({ happened, trials }: Rate) {
  return trials === 0 ? '–' : `${formatNumber(happened)} of ${formatNumber(trials)}`
}

export function sharesTable({ shares }: Sensitivity): StudyTable {
  return {
    head: ['of the costs', ...shares.map(({ name }) => ARM_LABELS[name])],
    rows: COSTS.map(({ cost, name }) => [name, ...shares.map((arm) => formatPercent(arm[cost]))]),
  }
}

export function sensitivityTable({ rows }: Sensitivity): StudyTable {
  return {
    head: ['ratio', ...rows[0]!.arms.map(({ name }) => ARM_LABELS[name])],
    rows: rows.map(({ what, arms }) => [what, ...arms.map(({ ratio }) => formatRatio(ratio))]),
  }
}

/** Interruptions per session at which the tokens saved equal the tokens spent. */
export function breakEvenTable({ paysFrom }: Sensitivity): StudyTable {
  return {
    head: ['', ...paysFrom.map(({ name }) => ARM_LABELS[name])],
    rows: [['interruptions a session', ...paysFrom.map(({ share }) => formatNumber(share, 2))]],
  }
}

const RECOVERY_TEXTS: Readonly<Record<ArmName, string>> = {
  none: 'git status',
  'session-json': 'session.json',
  'enhanced-log': 'workflow log',
  'plan-once': 'session.json',
  stint: 'stint resume',
}
const MAINTENANCE_TEXTS: Partial<Record<ArmName, string>> = {
  'session-json': 'high',
  stint: 'stint ledger --maintenance',
}
const RECOMMENDED_TEXTS: Partial<Record<ArmName, string>> = {
  none: '✓',
  'session-json': '✗',
  'enhanced-log': '✓',
}

/** The comparison matrix of the study. Its in-memory column was never simulated and is copied. */
export function comparisonTable({ arms }: Study): StudyTable {
  const none = arms[0]!.figures
  const share = (figureOf: (figures: ArmFigures) => number) => (arm: StudyArm) => {
    const digits = arm.basis === 'measured' ? 2 : 1
    return atMost(
      arm,
      formatPercent(figureOf(arm.figures) / Math.max(1, arm.figures.sessions), digits),
    )
  }
  const rows: readonly (readonly [...TableRow, inMemory: string])[] = [
    ['file writes', ({ figures }) => formatNumber(figures.writes, 1), '1'],
    [
      'token overhead',
      ({ figures }) => signedPercent(relativeChange(none.tokens, figures.tokens)),
      '0 %',
    ],
    [
      'cognitive load',
      ({ name, figures }) =>
        name === 'none'
          ? 'baseline'
          : signedPercent(relativeChange(none.cognitiveLoad, figures.cognitiveLoad)),
      '0 %',
    ],
    ['staleness', share(({ stale }) => stale), '0 %'],
    ['sync conflicts', share(({ conflicts }) => conflicts), '0 %'],
    ['parse errors', share(({ unreadable }) => unreadable), '0 %'],
    ['recovery', ({ name }) => RECOVERY_TEXTS[name], 'git status'],
    ['parallel support', () => '✓', '✓'],
    ['traceability', ({ figures }) => formatPercent(figures.traceability), '85 %'],
    ['success', (arm) => atLeast(arm, formatPercent(arm.figures.success)), '87.9 %'],
    ['maintenance', ({ name }) => MAINTENANCE_TEXTS[name] ?? 'low', 'minimal'],
    ['recommended by the study', ({ name }) => RECOMMENDED_TEXTS[name] ?? '–', '✓'],
  ]
  // The study has this column after the log.
  const withMemoryColumn = (cells: readonly string[], memory: string) => [
    ...cells.slice(0, 3),
    memory,
    ...cells.slice(3),
  ]
  return {
    head: [
      'aspect',
      ...withMemoryColumn(
        arms.map(({ name }) => ARM_LABELS[name]),
        'in memory',
      ),
    ],
    rows: rows.map(([aspect, cell, memory]) => [
      aspect,
      ...withMemoryColumn(arms.map(cell), memory),
    ]),
  }
}

export function describeStudy(study: Study, sensitivity: Sensitivity, output: Output): string {
  const tableSection = (title: string, content: StudyTable, ...notes: readonly string[]) => [
    '',
    `   ${output.bold(title)}`,
    ...tableLines(content),
    ...notes.map((note) => `   ${output.dim(note)}`),
  ]
  return [
    `📊 ${output.bold(`What keeping a session's state costs: ${formatNumber(study.sessions)} sessions, seed ${study.seed}`)}`,
    '   none, session.json and plan once as the study assumes them, enhanced log from its matrix, stint as it was measured',
    ...tableSection('A session on average', figuresTable(study)),
    ...tableSection('Against none', changesTable(study)),
    ...tableSection(
      'Failures',
      failuresTable(study),
      'Of stint: at the bound of what was measured, as if every session were killed once.',
    ),
    ...tableSection('By complexity', complexityTable(study)),
    ...tableSection(
      'Costs to benefits, as the study weighs them',
      ratioTable(study),
      RATIO_FORMS_NOTE,
      VERDICTS_NOTE,
    ),
    ...tableSection('Where its costs are', sharesTable(sensitivity)),
    ...tableSection('The ratio with one assumption changed', sensitivityTable(sensitivity)),
    ...tableSection('Interrupted so often, it pays for its tokens', breakEvenTable(sensitivity)),
    ...tableSection('Comparison', comparisonTable(study)),
    ...tableSection('Measured of Stint', ratesTable(study)),
    '',
    ...tableLines(measuredTable(study)),
    ...measurementNotes(study).map((line) => `   ${output.dim(line)}`),
  ].join('\n')
}

function tableLines({ head, rows }: StudyTable) {
  const figures = head.map((_, column) => column).slice(1)
  return table([head, ...rows], figures).map((text) => `   ${text}`)
}
