// The study's assumptions, and Stint's own arm as measured.
export type StudyComplexity = (typeof COMPLEXITIES)[number]

export interface Rate {
  readonly happened: number
  readonly trials: number
}

/** Means over the measured sessions of one complexity. */
export interface MeasuredSessions {
  readonly sessions: number
  readonly tasks: number
  /** Files written and records appended, without those of the SQLite index. */
  readonly writes: number
  /** On disk at the end, under `.sessions` and `.git/stint`. */
  readonly bytes: number
  readonly commands: number
  /** Injected by hooks and printed by commands, including the two conversations that resumed the session. */
  readonly tokens: number
  /** Recorded facts that were injected into a fresh conversation. */
  readonly givenBack: Rate
  /** Other facts that a command named in the injected context shows. */
  readonly shownOnDemand: Rate
}

export interface FailureRates {
  /** After a kill, something acknowledged is missing or something done counts as not done. */
  readonly stale: Rate
  /** After concurrent writes, something acknowledged is missing or doubled. */
  readonly conflicts: Rate
  /** A torn write cannot be read, or hides something else. */
  readonly unreadable: Rate
}

export interface Measurement extends FailureRates {
  readonly at: string
  readonly version: string
  readonly machine: string
  /** The same trials on a session.json rewritten in place, which prove that the trials detect failures. */
  readonly control: FailureRates
  readonly sessions: Readonly<Record<StudyComplexity, MeasuredSessions>>
}

export type ArmName = 'none' | 'session-json' | 'enhanced-log' | 'plan-once' | 'stint'

/** The tokens of Stint's slash commands and MCP server that Claude Code sends in every conversation. A test counts them. */
export const TOKENS_PER_CONVERSATION = 292
/** The first conversation of a measured session, and the two that resumed it. */
const CONVERSATIONS = 3

export type PerComplexity = Readonly<Record<StudyComplexity, number>>

export const COMPLEXITIES = ['simple', 'medium', 'complex'] as const

function everywhere(value: number): PerComplexity {
  return { simple: value, medium: value, complex: value }
}

export const STUDY_SESSION = {
  complexity: { simple: 0.35, medium: 0.45, complex: 0.2 },
  domain: { frontend: 0.24, backend: 0.1, fullstack: 0.4, devops: 0.1, debugging: 0.1, docs: 0.06 },
  tasks: { simple: [1, 2], medium: [3, 5], complex: [6, 10] },
  tokens: { simple: 3200 * 0.7, medium: 3200, complex: 3200 * 1.5 },
  apiCalls: { simple: 25.3 * 0.7, medium: 25.3, complex: 25.3 * 1.5 },
  minutes: { simple: 10, medium: 18, complex: 35 },
  cognitiveLoad: { simple: 0.3, medium: 0.45, complex: 0.65 },
  success: { simple: 0.95, medium: 0.88, complex: 0.75 },
  /** Relative for the first three, absolute for the fourth. */
  spread: { tokens: 0.1, apiCalls: 0.15, minutes: 0.2, cognitiveLoad: 0.05 },
  msPerAccess: 200,
  leastCognitiveLoad: 0.1,
  leastSuccess: 0.3,
} as const satisfies Record<string, unknown>

export interface FailureChances {
  readonly stale: number
  readonly forgotten: number
  readonly unreadable: number
  /** In sessions with two or more agents. When absent nothing is drawn. */
  readonly conflictPerAgent?: number
  /** Subtracted from the chance of success. */
  readonly penalties: Readonly<Record<'stale' | 'conflict' | 'unreadable' | 'forgotten', number>>
  /** Drawn from a second generator, so that the sessions are the same as those of `none`. */
  readonly isDrawnSeparately?: boolean
}

interface ModelAccess {
  readonly reads: number
  readonly writes: number
  readonly writesPerTask: number
  readonly tokensPerRead: number
  readonly tokensPerWrite: number
  readonly tokensPerAccess: number
}

interface Delegation {
  readonly share: number
  readonly maxAgents: number
}

export interface ArmParameters {
  readonly name: ArmName
  readonly writes: PerComplexity
  readonly modelAccess?: ModelAccess
  /** Commands that the model runs, each an API call. Their tokens are in `tokens.added`. */
  readonly commands?: PerComplexity
  readonly tokens: { readonly share: number; readonly added: PerComplexity }
  readonly cognitiveLoad: { readonly share: number; readonly added: number }
  readonly traceability: { readonly middle: PerComplexity; readonly spread: number }
  readonly failures?: FailureChances
  readonly delegation: { readonly complex: Delegation; readonly medium?: Delegation }
  /** Added to the chance of success in complex sessions. */
  readonly delegationBonus: number
}

export const NONE: ArmParameters = {
  name: 'none',
  writes: everywhere(2),
  tokens: { share: 0, added: everywhere(0) },
  cognitiveLoad: { share: 0, added: 0 },
  traceability: { middle: everywhere(0.87), spread: 0.03 },
  delegation: { complex: { share: 0.7, maxAgents: 3 } },
  delegationBonus: 0,
}

/** The model writes the file at each change of a task's state: three per task. */
export const SESSION_JSON: ArmParameters & {
  readonly modelAccess: ModelAccess
  readonly failures: FailureChances
} = {
  ...NONE,
  name: 'session-json',
  modelAccess: {
    reads: 3,
    writes: 0,
    writesPerTask: 3,
    tokensPerRead: 200,
    tokensPerWrite: 250,
    tokensPerAccess: 50,
  },
  cognitiveLoad: { share: 0, added: 0.07 },
  traceability: { middle: everywhere(0.87 + 0.05), spread: 0.02 },
  failures: {
    stale: 0.08,
    forgotten: 0.12,
    unreadable: 0.02,
    conflictPerAgent: 0.03,
    penalties: { stale: 0.15, conflict: 0.2, unreadable: 0.25, forgotten: 0.05 },
  },
}

/** A column of the study's matrix: tasks in the workflow log, written once at the end. */
export const ENHANCED_LOG: ArmParameters = {
  ...NONE,
  name: 'enhanced-log',
  tokens: { share: 0.05, added: everywhere(0) },
  cognitiveLoad: { share: 0.02, added: 0 },
  traceability: { middle: everywhere(0.89), spread: 0.03 },
}

/** The file is written once, with the plan, and read twice. */
export const PLAN_ONCE: ArmParameters = {
  ...NONE,
  name: 'plan-once',
  modelAccess: {
    reads: 2,
    writes: 1,
    writesPerTask: 0,
    tokensPerRead: 200,
    tokensPerWrite: 350,
    tokensPerAccess: 50,
  },
  cognitiveLoad: { share: 0, added: 0.03 },
  traceability: { middle: everywhere(0.87 + 0.06), spread: 0.02 },
  failures: {
    stale: 0.008,
    forgotten: 0.05,
    unreadable: 0.002,
    penalties: { stale: 0.03, conflict: 0, unreadable: 0.05, forgotten: 0.02 },
  },
  delegation: { complex: { share: 0.75, maxAgents: 3 }, medium: { share: 0.3, maxAgents: 2 } },
  delegationBonus: 0.03,
}

const SIGNIFICANCE = 0.05

/**
 * The upper bound of a rate with 95 % confidence: 3/N for no failure in N trials, else the exact Clopper-Pearson bound, and 1 without
 * trials.
 */
export function upperBound({ happened, trials }: Rate): number {
  if (trials <= 0 || happened >= trials) return 1
  if (happened === 0) return Math.min(1, 3 / trials)
  let [low, high] = [happened / trials, 1]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (binomialCdf(happened, trials, middle) > SIGNIFICANCE) low = middle
    else high = middle
  }
  return high
}

/** In logarithms, because the probabilities of many trials underflow. */
function binomialCdf(maxCount: number, trials: number, rate: number) {
  const [logRate, logRest] = [Math.log(rate), Math.log1p(-rate)]
  let logCombinations = 0
  let sum = 0
  for (let count = 0; count <= maxCount; count += 1) {
    if (count > 0) logCombinations += Math.log((trials - count + 1) / count)
    sum += Math.exp(logCombinations + count * logRate + (trials - count) * logRest)
  }
  return sum
}

/** The rates at which failures of `stint` are drawn. */
export function failureBounds({ stale, conflicts, unreadable }: FailureRates) {
  return {
    stale: upperBound(stale),
    conflicts: upperBound(conflicts),
    unreadable: upperBound(unreadable),
  }
}

/**
 * Every session counts as killed once and as torn in a write once. Failures are drawn at the upper bounds of their rates, with the
 * penalties of session.json.
 */
export function stintParameters(measurement: Measurement): ArmParameters {
  const { sessions } = measurement
  const bounds = failureBounds(measurement)
  const perComplexity = (valueOf: (complexity: StudyComplexity) => number): PerComplexity => ({
    simple: valueOf('simple'),
    medium: valueOf('medium'),
    complex: valueOf('complex'),
  })
  return {
    ...NONE,
    name: 'stint',
    writes: perComplexity((complexity) => sessions[complexity].writes),
    commands: perComplexity((complexity) => sessions[complexity].commands),
    tokens: {
      share: 0,
      added: perComplexity(
        (complexity) => sessions[complexity].tokens + CONVERSATIONS * TOKENS_PER_CONVERSATION,
      ),
    },
    traceability: {
      middle: perComplexity((complexity) => {
        const { happened, trials } = sessions[complexity].givenBack
        return trials === 0 ? 0 : happened / trials
      }),
      spread: 0,
    },
    failures: {
      ...SESSION_JSON.failures,
      stale: bounds.stale,
      unreadable: bounds.unreadable,
      conflictPerAgent: bounds.conflicts,
      isDrawnSeparately: true,
    },
  }
}
