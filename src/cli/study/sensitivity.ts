// What the ratio depends on: the same arms with one assumption changed at a time.
import { PRIORS, PRIOR_BASE, PRIOR_START } from '../../run/plan/forecast.ts'
import { ARM_KINDS, keepingsWith } from './arms.ts'
import type {
  Arm,
  ArmName,
  ComparedArm,
  Costs,
  Figures,
  Ratio,
  Sensitivity,
  SensitivityRow,
  Study,
} from './contract.ts'
import { DrawnArms } from './run-arm.ts'
import { type Each, type Keeping, SESSION, SESSION_JSON } from './parameters.ts'
import { type Weighing, ratioOf } from './ratio.ts'

const { msPerAccess } = SESSION
/** At an instant that is drawn evenly half of a session is behind it. */
const LOST = 0.5
/** The sessions that were measured were gone on with by two fresh conversations, and what these were given is among their tokens. */
const MEASURED_TIMES = 2

/** What is changed of the study for one row. */
interface Change {
  readonly id: SensitivityRow['id']
  readonly what: string
  readonly weighing?: Weighing
  /** One arm kept otherwise. */
  readonly keeping?: (own: Keeping) => Keeping
  readonly tokens?: Each
  /** How often a session is interrupted, and gone on with in a fresh conversation. */
  readonly interrupted?: number
}

/** The file written by a program, whole or not at all, by one writer that forgets nothing. The model still reads it three times. */
export const TOOL_WRITTEN: Keeping = {
  ...SESSION_JSON,
  byModel: { ...SESSION_JSON.byModel, tokensPerWrite: 0, tokensPerAccess: 0 },
  // The chances are zero and drawn all the same, so that the sessions are those of the study.
  failures: {
    ...SESSION_JSON.failures,
    stale: 0,
    forgotten: 0,
    unreadable: 0,
    conflictPerAgent: 0,
  },
}

function byProgram(own: Keeping): Keeping {
  return own.name === 'session-json' ? TOOL_WRITTEN : own
}

function withLoad(own: Keeping): Keeping {
  return own.name === 'stint' ? { ...own, cognitiveLoad: SESSION_JSON.cognitiveLoad } : own
}

/** One task of each size in a conversation of its own, as a published ledger of coding agents has them. */
export const REAL_TOKENS: Each = {
  simple: PRIOR_BASE + PRIOR_START.added + PRIORS.small.added,
  medium: PRIOR_BASE + PRIOR_START.added + PRIORS.medium.added,
  complex: PRIOR_BASE + PRIOR_START.added + PRIORS.large.added,
}

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

/** Every row anew from arms that are drawn as those of the study were. */
export async function analyse(
  study: Study,
  onProgress?: (drawn: number, total: number) => void,
): Promise<Sensitivity> {
  const own = keepingsWith(study.measurement)
  const drawn = new DrawnArms()
  for (const [at, keeping] of own.entries()) drawn.want(keeping, SESSION.tokens, study.arms[at])
  const plans = CHANGES.map((change) => ({
    change,
    keepings: own.map((one) => change.keeping?.(one) ?? one),
  }))
  for (const { change, keepings } of plans)
    for (const one of keepings) drawn.want(one, change.tokens ?? SESSION.tokens)
  await drawn.draw(study.sessions, study.seed, onProgress)
  const none = figuresOf(study.arms, 'none')
  const compared = study.arms.filter(({ name }) => name !== 'none')
  return {
    shares: compared.map(({ name, ratio }) => ({ name, ...sharesOf(ratio!) })),
    paysFrom: compared.flatMap(({ name, figures }) => {
      const share = paysFrom(none, figures, name)
      return share === undefined ? [] : [{ name, share }]
    }),
    rows: plans.map(({ change, keepings }) => {
      const arms = keepings.map((one) => drawn.get(one, change.tokens ?? SESSION.tokens))
      return { id: change.id, what: change.what, arms: compare(arms, change) }
    }),
  }
}

function compare(
  arms: readonly Arm[],
  { weighing, interrupted = 0 }: Change,
): readonly ComparedArm[] {
  const own = figuresOf(arms, 'none')
  const none = goneOn(own, own, 'none', interrupted)
  return arms
    .filter(({ name }) => name !== 'none')
    .map(({ name, figures }) => {
      const changed = goneOn(own, figures, name, interrupted)
      const { value, verdict } = ratioOf(none, changed, ARM_KINDS[name].form, weighing)
      return { name, tokens: changed.tokens, success: changed.success, ratio: value, verdict }
    })
}

function sharesOf({ costs }: Ratio): Costs {
  const whole = Object.values(costs).reduce((sum, cost) => sum + cost) || 1
  return {
    writes: costs.writes / whole,
    tokens: costs.tokens / whole,
    cognitiveLoad: costs.cognitiveLoad / whole,
    success: costs.success / whole,
  }
}

/**
 * What of a session a fresh conversation is given after an interruption. In memory nothing is left, and a log that is written at the end is not
 * there yet. The others are taken to give back all that they trace, which favours those of them that are behind; what is stale gives back nothing.
 */
function givenBack(name: ArmName, { traceability, stale, sessions }: Figures): number {
  if (name === 'none' || name === 'enhanced-log') return 0
  return traceability * (1 - (sessions === 0 ? 0 : stale / sessions))
}

/** With what has to be worked out again by the interrupted sessions. */
function goneOn(none: Figures, arm: Figures, name: ArmName, interrupted: number): Figures {
  return {
    ...arm,
    tokens: arm.tokens + interrupted * LOST * none.tokens * (1 - givenBack(name, arm)),
  }
}

/** How often a session has to be interrupted until what is given back is as many tokens as keeping it took. */
function paysFrom(none: Figures, arm: Figures, name: ArmName): number | undefined {
  const saved = LOST * none.tokens * givenBack(name, arm)
  return saved === 0 ? undefined : (arm.tokens - none.tokens) / saved
}

function figuresOf(arms: readonly Arm[], name: ArmName): Figures {
  return arms.find((arm) => arm.name === name)!.figures
}
