import { MersenneTwister } from './mersenne-twister.ts'
import {
  type ArmName,
  type StudyComplexity,
  type PerComplexity,
  type ArmParameters,
  COMPLEXITIES,
  STUDY_SESSION,
} from './parameters.ts'

const COMPLEXITY_WEIGHTS = runningSums(Object.values(STUDY_SESSION.complexity))
const DOMAIN_WEIGHTS = runningSums(Object.values(STUDY_SESSION.domain))
const MS_PER_MINUTE = 60_000

function runningSums(weights: readonly number[]): readonly number[] {
  let sum = 0
  return weights.map((weight) => (sum += weight))
}

/** Sessions drawn before yielding to the event loop. */
const BATCH = 10_000

/** The origin of an arm's parameters where the study did not assume them. */
const BASIS_OF_ARM: Partial<Record<ArmName, 'matrix' | 'measured'>> = {
  'enhanced-log': 'matrix',
  stint: 'measured',
}

/** Shares are from 0 to 1. */
export type ArmFigures = ReturnType<typeof toFigures>
export type DrawnArm = Awaited<ReturnType<typeof drawArm>>

export async function drawArm(
  arm: ArmParameters,
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
  const failureRandom = new MersenneTwister(seed + 1)
  const sums = { simple: emptySums(), medium: emptySums(), complex: emptySums() }
  for (let done = 0; done < sessions;) {
    const until = Math.min(sessions, done + BATCH)
    for (; done < until; done += 1) drawSession(arm, tokens, random, failureRandom, sums)
    onProgress?.(done)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { simple, medium, complex } = sums
  return {
    name: arm.name,
    basis: BASIS_OF_ARM[arm.name] ?? ('assumed' as const),
    figures: toFigures([simple, medium, complex].reduce(addSums)),
    byComplexity: {
      simple: toFigures(simple),
      medium: toFigures(medium),
      complex: toFigures(complex),
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

type ArmSums = ReturnType<typeof emptySums>

/** Adds one session to the sums of its complexity. The order of the draws reproduces the study's figures. */
function drawSession(
  arm: ArmParameters,
  baseTokens: PerComplexity,
  random: MersenneTwister,
  failureRandom: MersenneTwister,
  all: Readonly<Record<StudyComplexity, ArmSums>>,
) {
  const { spread } = STUDY_SESSION
  const complexity = COMPLEXITIES[random.choose(COMPLEXITY_WEIGHTS)]!
  const sums = all[complexity]
  random.choose(DOMAIN_WEIGHTS)
  const [fewest, most] = STUDY_SESSION.tasks[complexity]
  const tasks = random.between(fewest, most)

  const by = arm.modelAccess
  const writesByModel = by === undefined ? 0 : by.writes + by.writesPerTask * tasks
  const accesses = by === undefined ? (arm.commands?.[complexity] ?? 0) : by.reads + writesByModel
  const tokensByModel =
    by === undefined
      ? 0
      : by.reads * by.tokensPerRead +
        writesByModel * by.tokensPerWrite +
        accesses * by.tokensPerAccess
  const { tokens, cognitiveLoad, traceability, failures } = arm

  sums.sessions += 1
  sums.writes += arm.writes[complexity] + writesByModel
  sums.tokens += Math.trunc(
    baseTokens[complexity] * vary(random, spread.tokens) * (1 + tokens.share) +
      tokens.added[complexity] +
      tokensByModel,
  )
  sums.apiCalls += Math.trunc(
    STUDY_SESSION.apiCalls[complexity] * vary(random, spread.apiCalls) + accesses,
  )
  const minutes =
    STUDY_SESSION.minutes[complexity] * vary(random, spread.minutes) +
    (accesses * STUDY_SESSION.msPerAccess) / MS_PER_MINUTE
  sums.minutes += minutes
  sums.eachMinutes.push(minutes)
  const load =
    STUDY_SESSION.cognitiveLoad[complexity] * (1 + cognitiveLoad.share) + cognitiveLoad.added
  const drawnLoad = load + random.uniform(-spread.cognitiveLoad, spread.cognitiveLoad)
  sums.cognitiveLoad += Math.min(1, Math.max(STUDY_SESSION.leastCognitiveLoad, drawnLoad))
  sums.traceability += Math.min(
    1,
    traceability.middle[complexity] + random.uniform(-traceability.spread, traceability.spread),
  )

  // Failures from a second generator leave the other draws equal to those of an arm without failures.
  const isSeparate = failures === undefined || failures.isDrawnSeparately === true
  const successDraw = isSeparate ? random.random() : undefined
  const failureSource = isSeparate ? failureRandom : random
  const isStale = happens(failureSource, failures?.stale)
  const isForgotten = happens(failureSource, failures?.forgotten)
  const isUnreadable = happens(failureSource, failures?.unreadable)
  const delegation = complexity === 'simple' ? undefined : arm.delegation[complexity]
  const agents = happens(random, delegation?.share) ? random.between(1, delegation!.maxAgents) : 0
  const isComplex = complexity === 'complex'
  const perAgent = failures?.conflictPerAgent
  const isInConflict =
    perAgent !== undefined && isComplex && agents >= 2 && happens(failureSource, perAgent * agents)

  const more = isComplex && agents > 0 ? arm.delegationBonus : 0
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
  if ((successDraw ?? random.random()) < chance) sums.succeeded += 1
  if (isStale) sums.stale += 1
  if (isInConflict) sums.conflicts += 1
  if (isUnreadable) sums.unreadable += 1
}

function vary(random: MersenneTwister, spread: number) {
  return random.uniform(1 - spread, 1 + spread)
}

/** Without a chance no random number is drawn. */
function happens(random: MersenneTwister, chance: number | undefined) {
  return chance !== undefined && random.random() < chance
}

function addSums(one: ArmSums, other: ArmSums): ArmSums {
  const { eachMinutes, ...numbers } = one
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) numbers[name] += other[name]
  return { ...numbers, eachMinutes: eachMinutes.concat(other.eachMinutes) }
}

function toFigures({ eachMinutes, succeeded, ...sums }: ArmSums) {
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
