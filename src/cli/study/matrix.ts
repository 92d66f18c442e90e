// The comparison matrix of the study, with the figures of this one and a column for each arm. Its column of keeping nothing but what is in
// memory was never simulated, and stands as it stood.
import type { Arm, ArmName, Study } from './contract.ts'
import { change } from './ratio.ts'
import { ARM_WORDS, amount, atLeast, atMost, percent, signedPercent } from './words.ts'
import type { Table } from './table.ts'

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
