// Compares two implementations. Their runs alternate, so that other load hits both, and medians are
// compared, so that one outlier decides nothing.
import { performance } from 'node:perf_hooks'

/**
 * Runs `a` and `b` in turn and returns the median time of each in milliseconds, and the ratio a/b.
 * The order alternates, because the first warms caches for the second.
 */
export async function paired(a, b, { rounds = 15, warmup = 2 } = {}) {
  const times = { a: [], b: [] }
  for (let round = -warmup; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['a', 'b'] : ['b', 'a']
    for (const which of order) {
      const start = performance.now()
      await (which === 'a' ? a() : b())
      if (round >= 0) times[which].push(performance.now() - start)
    }
  }
  const medianA = median(times.a)
  const medianB = median(times.b)
  return { a: medianA, b: medianB, ratio: medianA / medianB }
}

export function median(values) {
  const sorted = values.toSorted((x, y) => x - y)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
