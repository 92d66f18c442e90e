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

const LIMIT =
  /usage limit|rate.?limit|hit your (?:\w+ )?limit|limit (?:reached|exceeded)|too many requests|quota (?:exceeded|exhausted)|resource.?exhausted|insufficient_quota|\b429\b/i

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/
const SECONDS = /\|(\d{10})\b/

export interface LimitReached {
  readonly message: string
  readonly resetsAt?: string
}

export function limitIn(text: string): LimitReached | undefined {
  if (!LIMIT.test(text)) return undefined
  const seconds = SECONDS.exec(text)?.[1]
  const moment = Date.parse(MOMENT.exec(text)?.[0] ?? '')
  const at = seconds === undefined ? moment : Number(seconds) * 1000
  return { message: text, ...(Number.isNaN(at) ? {} : { resetsAt: new Date(at).toISOString() }) }
}
