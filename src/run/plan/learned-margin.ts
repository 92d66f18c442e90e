import type { FinishedTask } from './contract.ts'

/** How much wider or narrower than the quantile the margin may become. */
export const NARROWEST = 0.8
export const WIDEST = 2

/** The share of tasks that may exceed their margin. */
const MAY_EXCEED = 0.05
/** How fast it learns, as a step of the logarithm. */
const STEP = 0.3

/**
 * By how much the margin is to be multiplied, from how earlier margins turned out. After a task that took more, or in which the
 * conversation was compacted, it grows by a third; after each that took less it shrinks by 1.5 %. In the long run one in twenty
 * tasks then takes more, whatever the forecasts are worth.
 */
export function learnedMargin(finished: readonly FinishedTask[]): number {
  let log = 0
  for (const { forecast, added, wasCompacted } of finished) {
    if (forecast === undefined || !(forecast > 0) || !Number.isFinite(forecast)) continue
    const exceeded = wasCompacted || added > forecast
    log += STEP * (exceeded ? 1 - MAY_EXCEED : -MAY_EXCEED)
    log = Math.min(Math.log(WIDEST), Math.max(Math.log(NARROWEST), log))
  }
  return Math.exp(log)
}
