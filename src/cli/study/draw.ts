import { MersenneTwister } from './mersenne-twister.ts'
import {
  type ArmName,
  type StudyComplexity,
  type PerComplexity,
  type ArmParameters,
  COMPLEXITIES,
  STUDY_SESSION,
} from './parameters.ts'

const COMPLEXITY_SUMS = sumsOf(Object.values(STUDY_SESSION.complexity))
const DOMAIN_SUMS = sumsOf(Object.values(STUDY_SESSION.domain))
const MS_PER_MINUTE = 60_000

function sumsOf(weights: readonly number[]): readonly number[] {
  let sum = 0
  return weights.map((weight) => (sum += weight))
}

/** Sessions drawn before other work gets a turn: some milliseconds. */
const PIECE = 10_000

/** Where the parameters of an arm come from: assumed by the study, a column of its matrix, or measured. */
const BASIS: Partial<Record<ArmName, 'matrix' | 'measured'>> = {
  'enhanced-log': 'matrix',
  stint: 'measured',
}

/** Shares are from 0 to 1. */
export type ArmFigures = ReturnType<typeof figuresOf>
export type DrawnArm = Awaited<ReturnType<typeof drawArm>>

export async function drawArm(
  keeping: ArmParameters,
  {
    sessions,
    seed,
    tokens = STUDY_SESSION.tokens,
    onProgress,
  }: {
    readonly sessions: number
    readonly seed: number
    readonly tokens?: PerComplexity
    readonly onProgress?: (sessions: number) => void
  },
) {
  const random = new MersenneTwister(seed)
  const apart = new MersenneTwister(seed + 1)
  const sums = { simple: emptySums(), medium: emptySums(), complex: emptySums() }
  for (let done = 0; done < sessions;) {
    const until = Math.min(sessions, done + PIECE)
    for (; done < until; done += 1) drawSession(keeping, tokens, random, apart, sums)
    onProgress?.(done)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { simple, medium, complex } = sums
  return {
    name: keeping.name,
    basis: BASIS[keeping.name] ?? ('assumed' as const),
    figures: figuresOf([simple, medium, complex].reduce(added)),
    byComplexity: {
      simple: figuresOf(simple),
      medium: figuresOf(medium),
      complex: figuresOf(complex),
    },
  }
}

function emptySums() {
  return {
    sessions: 0,
    writes: 0,
    tokens: 0,
    apiCalls: 0,
    minutes: 0,
    eachMinutes: [] as number[],
    cognitiveLoad: 0,
    traceability: 0,
    succeeded: 0,
    stale: 0,
    conflicts: 0,
    unreadable: 0,
  }
}

type Sums = ReturnType<typeof emptySums>

/** Adds one session to the sums of its complexity. The order of the draws makes the study's figures come out again. */
function drawSession(
  keeping: ArmParameters,
  tokensOf: PerComplexity,
  random: MersenneTwister,
  apart: MersenneTwister,
  all: Readonly<Record<StudyComplexity, Sums>>,
) {
  const { spread } = STUDY_SESSION
  const complexity = COMPLEXITIES[random.choose(COMPLEXITY_SUMS)]!
  const sums = all[complexity]
  random.choose(DOMAIN_SUMS)
  const [fewest, most] = STUDY_SESSION.tasks[complexity]
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

  sums.sessions += 1
  sums.writes += keeping.writes[complexity] + writesByModel
  sums.tokens += Math.trunc(
    tokensOf[complexity] * about(random, spread.tokens) * (1 + tokens.share) +
      tokens.besides[complexity] +
      tokensByModel,
  )
  sums.apiCalls += Math.trunc(
    STUDY_SESSION.apiCalls[complexity] * about(random, spread.apiCalls) + accesses,
  )
  const minutes =
    STUDY_SESSION.minutes[complexity] * about(random, spread.minutes) +
    (accesses * STUDY_SESSION.msPerAccess) / MS_PER_MINUTE
  sums.minutes += minutes
  sums.eachMinutes.push(minutes)
  const load =
    STUDY_SESSION.cognitiveLoad[complexity] * (1 + cognitiveLoad.share) + cognitiveLoad.besides
  const drawnLoad = load + random.uniform(-spread.cognitiveLoad, spread.cognitiveLoad)
  sums.cognitiveLoad += Math.min(1, Math.max(STUDY_SESSION.leastCognitiveLoad, drawnLoad))
  sums.traceability += Math.min(
    1,
    traceability.middle[complexity] + random.uniform(-traceability.spread, traceability.spread),
  )

  // Failures drawn apart leave the other draws as those of an arm without failures, which draws its success first.
  const isApart = failures === undefined || failures.areApart === true
  const luck = isApart ? random.random() : undefined
  const failing = isApart ? apart : random
  const isStale = happens(failing, failures?.stale)
  const isForgotten = happens(failing, failures?.forgotten)
  const isUnreadable = happens(failing, failures?.unreadable)
  const delegation = complexity === 'simple' ? undefined : keeping.delegation[complexity]
  const agents = happens(random, delegation?.share) ? random.between(1, delegation!.mostAgents) : 0
  const isComplex = complexity === 'complex'
  const perAgent = failures?.conflictPerAgent
  const isInConflict =
    perAgent !== undefined && isComplex && agents >= 2 && happens(failing, perAgent * agents)

  const more = isComplex && agents > 0 ? keeping.successOfDelegated : 0
  const penalties = failures?.penalties
  const penalty =
    penalties === undefined
      ? 0
      : (isStale ? penalties.stale : 0) +
        (isInConflict ? penalties.conflict : 0) +
        (isUnreadable ? penalties.unreadable : 0) +
        (isForgotten ? penalties.forgotten : 0)
  const chance = Math.max(
    STUDY_SESSION.leastSuccess,
    STUDY_SESSION.success[complexity] - penalty + more,
  )
  if ((luck ?? random.random()) < chance) sums.succeeded += 1
  if (isStale) sums.stale += 1
  if (isInConflict) sums.conflicts += 1
  if (isUnreadable) sums.unreadable += 1
}

function about(random: MersenneTwister, spread: number) {
  return random.uniform(1 - spread, 1 + spread)
}

/** Draws nothing where there is no chance. */
function happens(random: MersenneTwister, chance: number | undefined) {
  return chance !== undefined && random.random() < chance
}

function added(one: Sums, other: Sums): Sums {
  const { eachMinutes, ...numbers } = one
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) numbers[name] += other[name]
  return { ...numbers, eachMinutes: eachMinutes.concat(other.eachMinutes) }
}

function figuresOf({ eachMinutes, succeeded, ...sums }: Sums) {
  const sorted = Float64Array.from(eachMinutes).sort()
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  const mean = (sum: number) => (sums.sessions === 0 ? 0 : sum / sums.sessions)
  return {
    sessions: sums.sessions,
    writes: mean(sums.writes),
    tokens: mean(sums.tokens),
    totalTokens: sums.tokens,
    apiCalls: mean(sums.apiCalls),
    minutes: { mean: mean(sums.minutes), p50: percentile(0.5), p95: percentile(0.95) },
    cognitiveLoad: mean(sums.cognitiveLoad),
    traceability: mean(sums.traceability),
    success: mean(succeeded),
    stale: sums.stale,
    conflicts: sums.conflicts,
    unreadable: sums.unreadable,
  }
}
