/** A value that was seen, or of which only a lower bound was. */
export interface Sample {
  readonly value: number
  readonly weight: number
  readonly isAtLeast: boolean
}

/**
 * The value that this share of the samples stays below. What is only known to be at least so much counts among all those
 * that are more (Kaplan and Meier's estimate), so that a task cut short never makes others look smaller.
 */
export function quantileOf(samples: readonly Sample[], share: number): number {
  const sorted = samples.toSorted(
    (a, b) => a.value - b.value || Number(a.isAtLeast) - Number(b.isAtLeast),
  )
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let above = 1
  for (const { value, weight, isAtLeast } of sorted) {
    if (!isAtLeast) above *= left > weight ? 1 - weight / left : 0
    left -= weight
    // Sums of fractions come out a little beside the share that they are.
    if (1 - above >= share - 1e-9) return value
  }
  return sorted.at(-1)?.value ?? 0
}
