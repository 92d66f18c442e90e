import { PRIORS, PRIOR_BASE, PRIOR_STARTUP } from '../../core.ts'
import { type DrawnArm, type ArmFigures, drawArm } from './sample-sessions.ts'
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

const MIN_BENEFIT = 0.01
const MS_PER_MINUTE = 60_000
const { msPerAccess } = STUDY_SESSION

export type StudyArm = DrawnArm & {
  /** Costs to benefits against `none`, which has none itself. */
  readonly ratio?: Ratio
}
/** Relative changes without their sign, as the study counts them. */
export type RelativeCosts = Readonly<
  Record<'writes' | 'tokens' | 'cognitiveLoad' | 'success', number>
>
type Ratio = ReturnType<typeof costBenefitRatio>
/** The study used one form for the file in real time, and a later one for the plan written once. */
type RatioForm = 'first' | 'second'
export type Study = Awaited<ReturnType<typeof runStudy>>
export type Sensitivity = Awaited<ReturnType<typeof analyseSensitivity>>

/** How changes become one number. In the study every relative change has the same weight and no sign. */
interface RatioWeights {
  /** Default 1. */
  readonly weights?: Partial<RelativeCosts>
  /** Counts writes by their share of a session's time instead of by their number. */
  readonly msPerWrite?: number
  /** A decrease is a benefit instead of a cost. */
  readonly isSigned?: boolean
}

/** Costs to benefits against `none`. In the first form every change of success is a cost; in the second a gain is a benefit. */
export function costBenefitRatio(
  none: ArmFigures,
  arm: ArmFigures,
  form: RatioForm,
  { weights, msPerWrite, isSigned = false }: RatioWeights = {},
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
  const decreases = isSigned ? sum(Object.values(changes).map((by) => Math.max(0, -by))) : 0
  const gains =
    relativeChange(none.traceability, arm.traceability) +
    (form === 'first' ? 0 : Math.max(0, success)) +
    decreases
  const benefit = Math.max(MIN_BENEFIT, gains)
  const value = sum(Object.values(costs)) / benefit
  const { verdict } = VERDICTS.find(({ above }) => value > above)!
  return { form, costs, benefit, value, verdict }
}

export function relativeChange(before: number, after: number): number {
  return before === 0 ? 0 : (after - before) / before
}

function sum(values: readonly number[]) {
  return values.reduce((sum, value) => sum + value, 0)
}

/** The study's own thresholds, the strictest first. */
export const VERDICTS = [
  { above: 3, verdict: 'do not implement' },
  { above: 1.5, verdict: 'marginal' },
  { above: 0.8, verdict: 'optional' },
  { above: -Infinity, verdict: 'consider' },
] as const

/** The study used its first form only for the file in real time. */
function ratioForm(name: ArmName): RatioForm {
  return name === 'session-json' ? 'first' : 'second'
}

function studyArms(measurement: Measurement): readonly ArmParameters[] {
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
  const armParameters = studyArms(measurement)
  const arms: StudyArm[] = []
  for (const parameters of armParameters) {
    const before = arms.length * sessions
    const arm = await drawArm(parameters, {
      sessions,
      seed,
      onProgress: (drawn) => onProgress?.(before + drawn, armParameters.length * sessions),
    })
    const none = arms[0]?.figures
    arms.push(
      none === undefined
        ? arm
        : { ...arm, ratio: costBenefitRatio(none, arm.figures, ratioForm(arm.name)) },
    )
  }
  const bounds = failureBounds(measurement)
  return { sessions, seed, arms, measurement, bounds, measured: 'shipped' as const }
}

/** An interruption at a uniformly drawn time loses half of the session on average. */
const LOST_SHARE = 0.5
/** Two fresh conversations resumed each measured session, and its tokens include their injected context. */
const MEASURED_INTERRUPTIONS = 2

/** The file written atomically by a program that forgets nothing. The model still reads it. */
const TOOL_WRITTEN: ArmParameters = {
  ...SESSION_JSON,
  modelAccess: { ...SESSION_JSON.modelAccess, tokensPerWrite: 0, tokensPerAccess: 0 },
  // Zero chances still draw a number, so that the sessions equal the study's.
  failures: {
    ...SESSION_JSON.failures,
    stale: 0,
    forgotten: 0,
    unreadable: 0,
    conflictPerAgent: 0,
  },
}

/** One task of each size in its own conversation, from a published ledger of coding agents. */
export const REAL_TOKENS: PerComplexity = {
  simple: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.small.added,
  medium: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.medium.added,
  complex: PRIOR_BASE + PRIOR_STARTUP.added + PRIORS.large.added,
}

interface Assumption {
  readonly id: string
  readonly what: string
  readonly weighing?: RatioWeights
  readonly parameters?: (original: ArmParameters) => ArmParameters
  readonly tokens?: PerComplexity
  /** How often a session is interrupted, and resumed in a fresh conversation. */
  readonly interrupted?: number
}

const toolWritten = (original: ArmParameters) =>
  original.name === 'session-json' ? TOOL_WRITTEN : original
const withSessionJsonLoad = (original: ArmParameters) =>
  original.name === 'stint' ? { ...original, cognitiveLoad: SESSION_JSON.cognitiveLoad } : original
const WRITES_BY_TIME: RatioWeights = { msPerWrite: msPerAccess }
const SIGNED: RatioWeights = { isSigned: true }

const ASSUMPTIONS: readonly Assumption[] = [
  { id: 'as-weighed', what: 'as the study weighs it' },
  {
    id: 'writes-only',
    what: 'every cost zero but writes',
    weighing: { weights: { tokens: 0, cognitiveLoad: 0, success: 0 } },
  },
  { id: 'tool-written', what: 'session.json kept by a program', parameters: toolWritten },
  {
    id: 'writes-by-cost',
    what: `writes by the time they take, ${msPerAccess} ms each`,
    weighing: WRITES_BY_TIME,
  },
  {
    id: 'tool-written-by-cost',
    what: 'both of these',
    parameters: toolWritten,
    weighing: WRITES_BY_TIME,
  },
  { id: 'real-tokens', what: 'sessions as large as real ones', tokens: REAL_TOKENS },
  {
    id: 'same-load',
    what: 'stint as much to think of as session.json',
    parameters: withSessionJsonLoad,
  },
  {
    id: 'crashes',
    what: `going on counted, ${SESSION_JSON.failures.stale * 100} % crash`,
    interrupted: SESSION_JSON.failures.stale,
    weighing: SIGNED,
  },
  {
    id: 'interrupted',
    what: 'going on counted, each interrupted twice',
    interrupted: MEASURED_INTERRUPTIONS,
    weighing: SIGNED,
  },
  {
    id: 'all',
    what: 'all of these together',
    parameters: toolWritten,
    weighing: { ...WRITES_BY_TIME, ...SIGNED },
    tokens: REAL_TOKENS,
    interrupted: MEASURED_INTERRUPTIONS,
  },
]

/** Redraws the arms with one assumption changed at a time. An arm that several changes share is drawn once. */
export async function analyseSensitivity(
  study: Study,
  onProgress?: (drawn: number, total: number) => void,
) {
  const { sessions, seed } = study
  const originals = studyArms(study.measurement)
  const draws = originals.map((parameters, at) => ({
    parameters,
    tokens: STUDY_SESSION.tokens as PerComplexity,
    arm: study.arms[at] as StudyArm | undefined,
  }))
  const plans = ASSUMPTIONS.map(({ tokens = STUDY_SESSION.tokens, ...assumption }) => {
    const armParameters = originals.map((original) => assumption.parameters?.(original) ?? original)
    const arms = armParameters.map((parameters) => {
      const existing = draws.find(
        (draw) => draw.parameters === parameters && draw.tokens === tokens,
      )
      if (existing !== undefined) return existing
      const draw = { parameters, tokens, arm: undefined as StudyArm | undefined }
      draws.push(draw)
      return draw
    })
    return { assumption, arms }
  })
  const missing = draws.filter(({ arm }) => arm === undefined)
  for (const [at, draw] of missing.entries()) {
    const { parameters, tokens } = draw
    const report = (count: number) => onProgress?.(at * sessions + count, missing.length * sessions)
    draw.arm = await drawArm(parameters, { sessions, seed, tokens, onProgress: report })
  }
  const [none, ...compared] = study.arms
  return {
    shares: compared.map(({ name, ratio }) => ({ name, ...costShares(ratio!) })),
    paysFrom: compared.flatMap(({ name, figures }) => {
      const saved = LOST_SHARE * none!.figures.tokens * recoveredShare(name, figures)
      return saved === 0 ? [] : [{ name, share: (figures.tokens - none!.figures.tokens) / saved }]
    }),
    rows: plans.map(({ assumption, arms }) => ({
      id: assumption.id,
      what: assumption.what,
      arms: compareArms(
        arms.map(({ arm }) => arm!),
        assumption,
      ),
    })),
  }
}

function compareArms(
  [none, ...arms]: readonly StudyArm[],
  { weighing, interrupted = 0 }: Assumption,
) {
  // Adds the tokens of work that interrupted sessions repeat.
  const withInterruptions = ({ name, figures }: StudyArm): ArmFigures => ({
    ...figures,
    tokens:
      figures.tokens +
      interrupted * LOST_SHARE * none!.figures.tokens * (1 - recoveredShare(name, figures)),
  })
  return arms.map((arm) => {
    const figures = withInterruptions(arm)
    const { value, verdict } = costBenefitRatio(
      withInterruptions(none!),
      figures,
      ratioForm(arm.name),
      weighing,
    )
    const { tokens, success } = figures
    return { name: arm.name, tokens, success, ratio: value, verdict }
  })
}

function costShares({ costs }: Ratio) {
  const total = sum(Object.values(costs)) || 1
  return {
    writes: costs.writes / total,
    tokens: costs.tokens / total,
    cognitiveLoad: costs.cognitiveLoad / total,
    success: costs.success / total,
  }
}

/**
 * The share of a session that a fresh conversation recovers after an interruption. A log written at the end does not exist yet. The
 * other arms recover what they trace, except in stale sessions.
 */
function recoveredShare(name: ArmName, { traceability, stale, sessions }: ArmFigures) {
  if (name === 'none' || name === 'enhanced-log') return 0
  return traceability * (1 - (sessions === 0 ? 0 : stale / sessions))
}
