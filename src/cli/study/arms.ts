import { upperBound } from './bound.ts'
import type { Arm, ArmName, Measurement, Ratio, Study } from './contract.ts'
import {
  COMPLEXITIES,
  CONVERSATIONS,
  type Each,
  ENHANCED_LOG,
  type Keeping,
  NONE,
  PLAN_ONCE,
  SENT_ALWAYS,
  SESSION_JSON,
} from './parameters.ts'

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
