import type { Complexity, Figures } from './contract.ts'
import type { DrawnSession } from './draw-session.ts'
import { COMPLEXITIES } from './parameters.ts'

/** Adds up drawn sessions. Only their minutes are kept one by one, for the percentiles. */
export class Tally {
  readonly #minutes: Float64Array
  readonly #complexity: Uint8Array
  readonly #sums: Readonly<Record<Complexity, Sums>> = {
    simple: emptySums(),
    medium: emptySums(),
    complex: emptySums(),
  }
  #count = 0

  constructor(most: number) {
    this.#minutes = new Float64Array(most)
    this.#complexity = new Uint8Array(most)
  }

  add(session: DrawnSession): void {
    this.#minutes[this.#count] = session.minutes
    this.#complexity[this.#count] = COMPLEXITIES.indexOf(session.complexity)
    this.#count += 1
    const sums = this.#sums[session.complexity]
    sums.sessions += 1
    sums.writes += session.writes
    sums.tokens += session.tokens
    sums.apiCalls += session.apiCalls
    sums.minutes += session.minutes
    sums.cognitiveLoad += session.cognitiveLoad
    sums.traceability += session.traceability
    if (session.hasSucceeded) sums.succeeded += 1
    if (session.isStale) sums.stale += 1
    if (session.isInConflict) sums.conflicts += 1
    if (session.isUnreadable) sums.unreadable += 1
  }

  figures(): {
    readonly figures: Figures
    readonly byComplexity: Readonly<Record<Complexity, Figures>>
  } {
    const { simple, medium, complex } = this.#sums
    return {
      figures: figuresOf([simple, medium, complex].reduce(added), this.#minutesOf()),
      byComplexity: {
        simple: figuresOf(simple, this.#minutesOf('simple')),
        medium: figuresOf(medium, this.#minutesOf('medium')),
        complex: figuresOf(complex, this.#minutesOf('complex')),
      },
    }
  }

  #minutesOf(complexity?: Complexity): Float64Array {
    const all = this.#minutes.subarray(0, this.#count)
    if (complexity === undefined) return all.slice()
    const wanted = COMPLEXITIES.indexOf(complexity)
    return all.filter((_, at) => this.#complexity[at] === wanted)
  }
}

type Sums = { [Name in keyof ReturnType<typeof emptySums>]: number }

function emptySums() {
  return {
    sessions: 0,
    writes: 0,
    tokens: 0,
    apiCalls: 0,
    minutes: 0,
    cognitiveLoad: 0,
    traceability: 0,
    succeeded: 0,
    stale: 0,
    conflicts: 0,
    unreadable: 0,
  }
}

function added(one: Sums, other: Sums): Sums {
  const sums = { ...one }
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] += other[name]
  return sums
}

function figuresOf(sums: Sums, minutes: Float64Array): Figures {
  const { sessions } = sums
  minutes.sort()
  // Of no sessions everything is nothing, and not "not a number".
  const mean = (sum: number) => (sessions === 0 ? 0 : sum / sessions)
  return {
    sessions,
    writes: mean(sums.writes),
    tokens: mean(sums.tokens),
    totalTokens: sums.tokens,
    apiCalls: mean(sums.apiCalls),
    minutes: {
      mean: mean(sums.minutes),
      p50: percentile(minutes, 0.5),
      p95: percentile(minutes, 0.95),
    },
    cognitiveLoad: mean(sums.cognitiveLoad),
    traceability: mean(sums.traceability),
    success: mean(sums.succeeded),
    stale: sums.stale,
    conflicts: sums.conflicts,
    unreadable: sums.unreadable,
  }
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0
}
