import type { Complexity } from './contract.ts'
import type { MersenneTwister } from './mersenne-twister.ts'
import {
  COMPLEXITIES,
  type Each,
  type FailureChances,
  type Keeping,
  SESSION,
} from './parameters.ts'

/** One session as it was drawn. There are so many that they are written over each other. */
export interface DrawnSession {
  complexity: Complexity
  writes: number
  tokens: number
  apiCalls: number
  minutes: number
  cognitiveLoad: number
  traceability: number
  hasSucceeded: boolean
  isStale: boolean
  isForgotten: boolean
  isUnreadable: boolean
  isInConflict: boolean
}

export interface Generators {
  readonly sessions: MersenneTwister
  /** Of failures that are drawn apart. */
  readonly failures: MersenneTwister
}

const COMPLEXITY_SUMS = sumsOf(Object.values(SESSION.complexity))
const DOMAIN_SUMS = sumsOf(Object.values(SESSION.domain))
const MS_PER_MINUTE = 60_000

export function emptySession(): DrawnSession {
  return {
    complexity: 'simple',
    writes: 0,
    tokens: 0,
    apiCalls: 0,
    minutes: 0,
    cognitiveLoad: 0,
    traceability: 0,
    hasSucceeded: false,
    isStale: false,
    isForgotten: false,
    isUnreadable: false,
    isInConflict: false,
  }
}

/** Draws one session of an arm, in the order that parameters.ts tells. */
export function drawSession(
  keeping: Keeping,
  tokensOf: Each,
  { sessions: random, failures: apart }: Generators,
  session: DrawnSession,
): void {
  const { spread } = SESSION
  const complexity = COMPLEXITIES[random.choose(COMPLEXITY_SUMS)]!
  random.choose(DOMAIN_SUMS)
  const [fewest, most] = SESSION.tasks[complexity]
  const tasks = random.between(fewest, most)

  const by = keeping.byModel
  const writesByModel = by === undefined ? 0 : by.writes + by.writesPerTask * tasks
  const accesses =
    by === undefined ? (keeping.commands?.[complexity] ?? 0) : by.reads + writesByModel
  const tokensByModel =
    by === undefined
      ? 0
      : by.reads * by.tokensPerRead +
        writesByModel * by.tokensPerWrite +
        accesses * by.tokensPerAccess
  const { tokens, cognitiveLoad, traceability, failures } = keeping

  session.complexity = complexity
  session.writes = keeping.writes[complexity] + writesByModel
  session.tokens = Math.trunc(
    tokensOf[complexity] * about(random, spread.tokens) * (1 + tokens.share) +
      tokens.besides[complexity] +
      tokensByModel,
  )
  session.apiCalls = Math.trunc(
    SESSION.apiCalls[complexity] * about(random, spread.apiCalls) + accesses,
  )
  session.minutes =
    SESSION.minutes[complexity] * about(random, spread.minutes) +
    (accesses * SESSION.msPerAccess) / MS_PER_MINUTE
  const load = SESSION.cognitiveLoad[complexity] * (1 + cognitiveLoad.share) + cognitiveLoad.besides
  session.cognitiveLoad = Math.min(
    1,
    Math.max(
      SESSION.leastCognitiveLoad,
      load + random.uniform(-spread.cognitiveLoad, spread.cognitiveLoad),
    ),
  )
  session.traceability = Math.min(
    1,
    traceability.middle[complexity] + random.uniform(-traceability.spread, traceability.spread),
  )

  if (failures === undefined || failures.areApart === true) {
    const luck = random.random()
    const agents = agentsOf(random, keeping, complexity)
    drawFailures(apart, failures, session)
    drawConflict(apart, failures, agents, session)
    session.hasSucceeded = luck < chanceOf(keeping, session, agents)
  } else {
    drawFailures(random, failures, session)
    const agents = agentsOf(random, keeping, complexity)
    drawConflict(random, failures, agents, session)
    session.hasSucceeded = random.random() < chanceOf(keeping, session, agents)
  }
}

function about(random: MersenneTwister, spread: number): number {
  return random.uniform(1 - spread, 1 + spread)
}

/** To how many agents it was delegated, or to none. */
function agentsOf(
  random: MersenneTwister,
  { delegation }: Keeping,
  complexity: Complexity,
): number {
  const kind = complexity === 'simple' ? undefined : delegation[complexity]
  return kind !== undefined && random.random() < kind.share ? random.between(1, kind.mostAgents) : 0
}

function drawFailures(
  random: MersenneTwister,
  failures: FailureChances | undefined,
  session: DrawnSession,
): void {
  session.isStale = failures !== undefined && random.random() < failures.stale
  session.isForgotten = failures !== undefined && random.random() < failures.forgotten
  session.isUnreadable = failures !== undefined && random.random() < failures.unreadable
}

function drawConflict(
  random: MersenneTwister,
  failures: FailureChances | undefined,
  agents: number,
  session: DrawnSession,
): void {
  const perAgent = failures?.conflictPerAgent
  session.isInConflict =
    perAgent !== undefined &&
    session.complexity === 'complex' &&
    agents >= 2 &&
    random.random() < perAgent * agents
}

function chanceOf(
  { failures, successOfDelegated }: Keeping,
  session: DrawnSession,
  agents: number,
): number {
  const base = SESSION.success[session.complexity]
  const more = session.complexity === 'complex' && agents > 0 ? successOfDelegated : 0
  if (failures === undefined) return base + more
  const { penalties } = failures
  const penalty =
    (session.isStale ? penalties.stale : 0) +
    (session.isInConflict ? penalties.conflict : 0) +
    (session.isUnreadable ? penalties.unreadable : 0) +
    (session.isForgotten ? penalties.forgotten : 0)
  return Math.max(SESSION.leastSuccess, base - penalty + more)
}

function sumsOf(weights: readonly number[]): readonly number[] {
  let sum = 0
  return weights.map((weight) => (sum += weight))
}
