import type { Usage } from '../../session/entries.ts'

export const NO_USAGE: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

export function combineUsage(
  one: Usage,
  other: Usage,
  combine: (a: number, b: number) => number,
): Usage {
  return {
    input: combine(one.input, other.input),
    cacheWritten: combine(one.cacheWritten, other.cacheWritten),
    cacheRead: combine(one.cacheRead, other.cacheRead),
    output: combine(one.output, other.output),
  }
}

export function addUsage(one: Usage, other: Usage): Usage {
  return combineUsage(one, other, (a, b) => a + b)
}

export function subtractUsage(one: Usage, other: Usage): Usage {
  return combineUsage(one, other, (a, b) => Math.max(0, a - b))
}

/** Placeholders of the same answer count less. */
export function largerUsage(one: Usage, other: Usage): Usage {
  return combineUsage(one, other, Math.max)
}

export function tokensOf({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}
