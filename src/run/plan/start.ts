// What finding one's way takes: how much more the first tasks of conversations took than later ones of the same class. One
// difference says little, since tasks differ by more than that among themselves; so it is weighed against the prior by how
// surely each is known.
import type { FinishedTask, SizeClass, Start } from './contract.ts'
import { PRIORS, PRIOR_START } from './priors.ts'
import { usable } from './usable.ts'

/** How far the prior may be off, as a share of it. */
const DOUBT = 1
/** At most this many times the prior. */
const MOST = 5

/**
 * How far towards the dear end of what it may be a start is taken when staying and leaving are weighed, in standard deviations.
 * Only tasks that are not first teach what a start costs: one that always leaves, because it thinks starts cheap, never finds out.
 */
const LEAN = 0.5

type Measure = 'added' | 'requests'

/** What a start takes, and what it is weighed as while that is not surely known. */
export function startFrom(finished: readonly FinishedTask[]): {
  readonly expected: Start
  readonly weighed: Start
} {
  const whole = usable(finished).filter((task) => !task.wasCompacted)
  const [added, requests] = [learned(whole, 'added'), learned(whole, 'requests')]
  return {
    expected: startOf(added.value, requests.value),
    weighed: startOf(added.value + LEAN * added.doubt, requests.value + LEAN * requests.doubt),
  }
}

/** Writing and waiting go with the requests. */
function startOf(added: number, requests: number): Start {
  const share = requests / PRIOR_START.requests
  return {
    added,
    requests,
    output: PRIOR_START.output * share,
    seconds: PRIOR_START.seconds * share,
  }
}

function learned(
  finished: readonly FinishedTask[],
  measure: Measure,
): { value: number; doubt: number } {
  const prior = PRIOR_START[measure]
  let certainty = 1 / (DOUBT * prior) ** 2
  let sum = prior * certainty
  for (const sizeClass of Object.keys(PRIORS) as SizeClass[]) {
    const ofClass = finished.filter((task) => task.sizeClass === sizeClass)
    const first = ofClass.filter((task) => task.wasFirst).map((task) => task[measure])
    const later = ofClass.filter((task) => !task.wasFirst).map((task) => task[measure])
    if (first.length === 0 || later.length === 0) continue
    const { spread } = PRIORS[sizeClass]
    const variance = (mean(ofClass.map((task) => task[measure])) * spread[measure]) ** 2 || 1
    const weight = (first.length * later.length) / (first.length + later.length) / variance
    sum += (mean(first) - mean(later)) * weight
    certainty += weight
  }
  return {
    value: Math.min(MOST * prior, Math.max(0, sum / certainty)),
    doubt: 1 / Math.sqrt(certainty),
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
