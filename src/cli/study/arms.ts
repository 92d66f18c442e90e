import type { Arm, ArmName, Measurement, Rate, Ratio, Study } from './contract.ts'
import {
  type Each,
  type Keeping,
  COMPLEXITIES,
  CONVERSATIONS,
  ENHANCED_LOG,
  NONE,
  PLAN_ONCE,
  SENT_ALWAYS,
  SESSION_JSON,
} from './parameters.ts'

const DOUBT = 0.05
const STEPS = 60

/**
 * What a rate is at most, with 95 % confidence. Of what never happened in N trials: 3/N. Of what did: the exact bound (Clopper and Pearson's),
 * the rate at which so few would be seen in one case of twenty. What was never tried may always happen.
 */
export function upperBound({ happened, trials }: Rate): number {
  if (trials <= 0 || happened >= trials) return 1
  if (happened === 0) return Math.min(1, 3 / trials)
  let [low, high] = [happened / trials, 1]
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2
    if (chanceOfAtMost(happened, trials, middle) > DOUBT) low = middle
    else high = middle
  }
  return high
}

/** That something happens at most so often, each of its probabilities being kept as a logarithm, or those of many trials would vanish. */
function chanceOfAtMost(most: number, trials: number, rate: number): number {
  const [logRate, logRest] = [Math.log(rate), Math.log1p(-rate)]
  let logWays = 0
  let sum = 0
  for (let count = 0; count <= most; count += 1) {
    if (count > 0) logWays += Math.log((trials - count + 1) / count)
    sum += Math.exp(logWays + count * logRate + (trials - count) * logRest)
  }
  return sum
}

interface ArmKind {
  readonly basis: Arm['basis']
  /** Which of the study's two ratios it is given: the one it was given there, and the later one where it was given none. */
  readonly form: Ratio['form']
}

export const ARM_KINDS: Readonly<Record<ArmName, ArmKind>> = {
  none: { basis: 'assumed', form: 'second' },
  'session-json': { basis: 'assumed', form: 'first' },
  'enhanced-log': { basis: 'matrix', form: 'second' },
  'plan-once': { basis: 'assumed', form: 'second' },
  stint: { basis: 'measured', form: 'second' },
}

export function keepingsWith(measurement: Measurement): readonly Keeping[] {
  return [NONE, SESSION_JSON, ENHANCED_LOG, PLAN_ONCE, stintKeeping(measurement)]
}

export function boundsOf({ stale, conflicts, unreadable }: Measurement): Study['bounds'] {
  return {
    stale: upperBound(stale),
    conflicts: upperBound(conflicts),
    unreadable: upperBound(unreadable),
  }
}

/**
 * Stint as it was measured. Each command that the agent ran is a call; what it has to think of was not measured. Every session counts as killed once
 * and as cut short in a write once, and what then goes wrong is drawn at the bound of its rate, with the penalties of session.json and as
 * often forgotten by the agent: its failures are at most these, and no session gains by it.
 */
export function stintKeeping(measurement: Measurement): Keeping {
  const { sessions } = measurement
  const bounds = boundsOf(measurement)
  const measured = (pick: (complexity: (typeof COMPLEXITIES)[number]) => number): Each => ({
    simple: pick('simple'),
    medium: pick('medium'),
    complex: pick('complex'),
  })
  return {
    ...NONE,
    name: 'stint',
    writes: measured((complexity) => sessions[complexity].writes),
    commands: measured((complexity) => sessions[complexity].commands),
    tokens: {
      share: 0,
      besides: measured((complexity) => sessions[complexity].tokens + CONVERSATIONS * SENT_ALWAYS),
    },
    traceability: {
      middle: measured((complexity) => {
        const { happened, trials } = sessions[complexity].givenBack
        return trials === 0 ? 0 : happened / trials
      }),
      spread: 0,
    },
    failures: {
      stale: bounds.stale,
      // An agent may forget to say something here as well; how often was not measured.
      forgotten: SESSION_JSON.failures.forgotten,
      unreadable: bounds.unreadable,
      conflictPerAgent: bounds.conflicts,
      penalties: SESSION_JSON.failures.penalties,
      areApart: true,
    },
  }
}
