import { PRIORS, PRIOR_BASE, PRIOR_STARTUP } from '../../core.ts'
import { type DrawnArm, type ArmFigures, drawArm } from './draw.ts'
import {
  type ArmName,
  type PerComplexity,
  type ArmParameters,
  type Measurement,
  ENHANCED_LOG,
  NONE,
  PLAN_ONCE,
  STUDY_SESSION,
  SESSION_JSON,
  failureBounds,
  stintParameters,
} from './parameters.ts'

const LEAST_BENEFIT = 0.01
const MS_PER_MINUTE = 60_000
const { msPerAccess } = STUDY_SESSION

export type StudyArm = DrawnArm & {
  /** Costs to benefits against `none`, which has none itself. */
  readonly ratio?: Ratio
}
/** Relative changes, each without its sign as the study counts it. */
export type RelativeCosts = Readonly<
  Record<'writes' | 'tokens' | 'cognitiveLoad' | 'success', number>
>
type Ratio = ReturnType<typeof costBenefitRatio>
/** The study had two: one for the file in real time, and a later one for the plan written once. */
type Form = 'first' | 'second'
export type Study = Awaited<ReturnType<typeof runStudy>>
export type Sensitivity = Awaited<ReturnType<typeof analyseSensitivity>>

/** How changes become one number. In the study every relative change weighs the same, whichever way it goes. */
interface Weighing {
  /** 1 where nothing is given. */
  readonly weights?: Partial<RelativeCosts>
  /** Counts writes as the share of a session's time they take, instead of as more writes than before. */
  readonly msPerWrite?: number
  /** What gets less is a benefit, and not a cost. */
  readonly isSigned?: boolean
}

/** Costs to benefits against `none`. In the first form every change of success is a cost; in the second a gain is a benefit. */
export function costBenefitRatio(
  none: ArmFigures,
  arm: ArmFigures,
  form: Form,
  { weights, msPerWrite, isSigned = false }: Weighing = {},
) {
  const success = relativeChange(none.success, arm.success)
  const changes = {
    writes:
      msPerWrite === undefined
        ? relativeChange(none.writes, arm.writes)
        : ((arm.writes - none.writes) * msPerWrite) / (none.minutes.mean * MS_PER_MINUTE),
    tokens: relativeChange(none.tokens, arm.tokens),
    cognitiveLoad: relativeChange(none.cognitiveLoad, arm.cognitiveLoad),
  }
  const cost = (name: keyof typeof changes) =>
    (weights?.[name] ?? 1) * (isSigned ? Math.max(0, changes[name]) : Math.abs(changes[name]))
  const costs: RelativeCosts = {
    writes: cost('writes'),
    tokens: cost('tokens'),
    cognitiveLoad: cost('cognitiveLoad'),
    success:
      (weights?.success ?? 1) *
      (form === 'first'
        ? Math.abs(relativeChange(arm.success, none.success))
        : Math.max(0, -success)),
  }
  const lessened = isSigned ? total(Object.values(changes).map((by) => Math.max(0, -by))) : 0
  const gained =
    relativeChange(none.traceability, arm.traceability) +
    (form === 'first' ? 0 : Math.max(0, success)) +
    lessened
  const benefit = Math.max(LEAST_BENEFIT, gained)
  const value = total(Object.values(costs)) / benefit
  const { verdict } = VERDICTS.find(({ above }) => value > above)!
  return { form, costs, benefit, value, verdict }
}

export function relativeChange(before: number, after: number): number {
  return before === 0 ? 0 : (after - before) / before
}

function total(values: readonly number[]) {
  return values.reduce((sum, value) => sum + value, 0)
}

/** The study's own thresholds, the strictest first. */
export const VERDICTS = [
  { above: 3, verdict: 'do not implement' },
  { above: 1.5, verdict: 'marginal' },
  { above: 0.8, verdict: 'optional' },
  { above: -Infinity, verdict: 'consider' },
] as const

/** The study gave its first form to the file in real time only. */
function formOf(name: ArmName): Form {
  return name === 'session-json' ? 'first' : 'second'
}

function keepingsWith(measurement: Measurement): readonly ArmParameters[] {
  return [NONE, SESSION_JSON, ENHANCED_LOG, PLAN_ONCE, stintParameters(measurement)]
}

export async function runStudy({
  sessions,
  seed,
  measurement,
  onProgress,
}: {
  readonly sessions: number
  readonly seed: number
  readonly measurement: Measurement
  readonly onProgress?: (drawn: number, total: number) => void
}) {
  const keepings = keepingsWith(measurement)
  const arms: StudyArm[] = []
  for (const keeping of keepings) {
    const before = arms.length * sessions
    const arm = await drawArm(keeping, {
      sessions,
      seed,
      onProgress: (drawn) => onProgress?.(before + drawn, keepings.length * sessions),
    })
    const none = arms[0]?.figures
    arms.push(
      none === undefined
        ? arm
        : { ...arm, ratio: costBenefitRatio(none, arm.figures, formOf(arm.name)) },
    )
  }
  const bounds = failureBounds(measurement)
  return { sessions, seed, arms, measurement, bounds, measured: 'shipped' as const }
}

/** At an instant drawn evenly, half of a session is behind it. */
const LOST = 0.5
/** Two fresh conversations resumed each measured session, and what they were injected is among its tokens. */
const MEASURED_TIMES = 2

/** The file written by a program, whole or not at all, by one writer that forgets nothing. The model still reads it. */
const TOOL_WRITTEN: ArmParameters = {
  ...SESSION_JSON,
  byModel: { ...SESSION_JSON.byModel, tokensPerWrite: 0, tokensPerAccess: 0 },
  // Zero chances are drawn all the same, so that the sessions are those of the study.
  failures: {
    ...SESSION_JSON.failures,
    stale: 0,
    forgotten: 0,
    unreadable: 0,
    conflictPerAgent: 0,
  },
}

/** One task of each size in a conversation of its own, from a published ledger of coding agents. */
export const REAL_TOKENS: PerComplexity = {
  simple: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.small.added,
  medium: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.medium.added,
  complex: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.large.added,
}

interface Change {
  readonly id: string
  readonly what: string
  readonly weighing?: Weighing
  readonly keeping?: (own: ArmParameters) => ArmParameters
  readonly tokens?: PerComplexity
  /** How often a session is interrupted, and resumed in a fresh conversation. */
  readonly interrupted?: number
}

const byProgram = (own: ArmParameters) => (own.name === 'session-json' ? TOOL_WRITTEN : own)
const withLoad = (own: ArmParameters) =>
  own.name === 'stint' ? { ...own, cognitiveLoad: SESSION_JSON.cognitiveLoad } : own
const BY_COST: Weighing = { msPerWrite: msPerAccess }
const SIGNED: Weighing = { isSigned: true }

const CHANGES: readonly Change[] = [
  { id: 'as-weighed', what: 'as the study weighs it' },
  {
    id: 'writes-only',
    what: 'every cost zero but writes',
    weighing: { weights: { tokens: 0, cognitiveLoad: 0, success: 0 } },
  },
  { id: 'tool-written', what: 'session.json kept by a program', keeping: byProgram },
  {
    id: 'writes-by-cost',
    what: `writes by the time they take, ${msPerAccess} ms each`,
    weighing: BY_COST,
  },
  { id: 'tool-written-by-cost', what: 'both of these', keeping: byProgram, weighing: BY_COST },
  { id: 'real-tokens', what: 'sessions as large as real ones', tokens: REAL_TOKENS },
  { id: 'same-load', what: 'stint as much to think of as session.json', keeping: withLoad },
  {
    id: 'crashes',
    what: `going on counted, ${SESSION_JSON.failures.stale * 100} % crash`,
    interrupted: SESSION_JSON.failures.stale,
    weighing: SIGNED,
  },
  {
    id: 'interrupted',
    what: 'going on counted, each interrupted twice',
    interrupted: MEASURED_TIMES,
    weighing: SIGNED,
  },
  {
    id: 'all',
    what: 'all of these together',
    keeping: byProgram,
    weighing: { ...BY_COST, ...SIGNED },
    tokens: REAL_TOKENS,
    interrupted: MEASURED_TIMES,
  },
]

/** The arms of a study with one assumption changed at a time. An arm that several changes need is drawn once. */
export async function analyseSensitivity(
  study: Study,
  onProgress?: (drawn: number, total: number) => void,
) {
  const { sessions, seed } = study
  const own = keepingsWith(study.measurement)
  const drawn = own.map((keeping, at) => ({
    keeping,
    tokens: STUDY_SESSION.tokens as PerComplexity,
    arm: study.arms[at] as StudyArm | undefined,
  }))
  const plans = CHANGES.map(({ tokens = STUDY_SESSION.tokens, ...changed }) => {
    const keepings = own.map((one) => changed.keeping?.(one) ?? one)
    const arms = keepings.map((keeping) => {
      const known = drawn.find((one) => one.keeping === keeping && one.tokens === tokens)
      if (known !== undefined) return known
      const wanted = { keeping, tokens, arm: undefined as StudyArm | undefined }
      drawn.push(wanted)
      return wanted
    })
    return { changed, arms }
  })
  const missing = drawn.filter(({ arm }) => arm === undefined)
  for (const [at, one] of missing.entries()) {
    const { keeping, tokens } = one
    const report = (count: number) => onProgress?.(at * sessions + count, missing.length * sessions)
    one.arm = await drawArm(keeping, { sessions, seed, tokens, onProgress: report })
  }
  const [none, ...compared] = study.arms
  return {
    shares: compared.map(({ name, ratio }) => ({ name, ...sharesOf(ratio!) })),
    paysFrom: compared.flatMap(({ name, figures }) => {
      const saved = LOST * none!.figures.tokens * givenBack(name, figures)
      return saved === 0 ? [] : [{ name, share: (figures.tokens - none!.figures.tokens) / saved }]
    }),
    rows: plans.map(({ changed, arms }) => ({
      id: changed.id,
      what: changed.what,
      arms: compare(
        arms.map(({ arm }) => arm!),
        changed,
      ),
    })),
  }
}

function compare([none, ...arms]: readonly StudyArm[], { weighing, interrupted = 0 }: Change) {
  // With what interrupted sessions have to work out again.
  const resumed = ({ name, figures }: StudyArm): ArmFigures => ({
    ...figures,
    tokens:
      figures.tokens + interrupted * LOST * none!.figures.tokens * (1 - givenBack(name, figures)),
  })
  return arms.map((arm) => {
    const figures = resumed(arm)
    const { value, verdict } = costBenefitRatio(resumed(none!), figures, formOf(arm.name), weighing)
    const { tokens, success } = figures
    return { name: arm.name, tokens, success, ratio: value, verdict }
  })
}

function sharesOf({ costs }: Ratio) {
  const whole = total(Object.values(costs)) || 1
  return {
    writes: costs.writes / whole,
    tokens: costs.tokens / whole,
    cognitiveLoad: costs.cognitiveLoad / whole,
    success: costs.success / whole,
  }
}

/**
 * What of a session a fresh conversation gets after an interruption. A log that is written at the end is not there yet. The others are taken
 * to give back all that they trace; what is stale gives back nothing.
 */
function givenBack(name: ArmName, { traceability, stale, sessions }: ArmFigures) {
  if (name === 'none' || name === 'enhanced-log') return 0
  return traceability * (1 - (sessions === 0 ? 0 : stale / sessions))
}
