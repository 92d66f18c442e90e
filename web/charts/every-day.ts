import type { UsageAnswer } from '../../src/serve/contract.ts'

type Day = UsageAnswer['days'][number]

const DAY_MS = 86_400_000
const NOTHING: Day['spend'] = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

/** So many days up to today, those on which nothing was used too: a gap is something to be seen. Days are the server's, in UTC. */
export function everyDay(days: readonly Day[], span: number, today: Date): readonly Day[] {
  const known = new Map(days.map((one) => [one.day, one]))
  return Array.from({ length: span }, (_, index) => {
    const day = new Date(today.getTime() - (span - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    return known.get(day) ?? { day, spend: NOTHING }
  })
}
