import { Misuse } from './errors.ts'

/** A date as a person types it, as the time it stands for. */
export function moment(input: string | undefined): string | undefined {
  if (input === undefined) return undefined
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed))
    throw new Misuse(`"${input}" is not a date`, 'write it like 2025-01-15 or 2025-01-15T10:30Z')
  return new Date(parsed).toISOString()
}

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

/** A date, or how long ago: `90d`, `12w`. */
export function timeAgo(given: string): string {
  const [, count, unit] = /^(\d{1,5})([dwmy])$/.exec(given.trim()) ?? []
  if (count !== undefined && unit !== undefined)
    return new Date(Date.now() - Number(count) * DAYS[unit]! * 86_400_000).toISOString()
  if (Number.isNaN(Date.parse(given)))
    throw new Misuse(`"${given}" is no time`, 'write it like 90d, 12w or 2025-01-15')
  return new Date(given).toISOString()
}
