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

type Measure = 'added' | 'requests'

export function startFrom(finished: readonly FinishedTask[]): Start {
  const whole = usable(finished).filter((task) => !task.wasCompacted)
  const requests = learned(whole, 'requests')
  // Writing and waiting go with the requests.
  const share = requests / PRIOR_START.requests
  return {
    added: learned(whole, 'added'),
    requests,
    output: PRIOR_START.output * share,
    seconds: PRIOR_START.seconds * share,
  }
}

function learned(finished: readonly FinishedTask[], measure: Measure): number {
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
  return Math.min(MOST * prior, Math.max(0, sum / certainty))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
