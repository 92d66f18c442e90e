// A broken clock must not break a view or a file name.
const UNKNOWN = 'unknown-time'
// A time as Stint writes it, on a day that every month has: it needs no parsing.
const CANONICAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const MINUTE_LENGTH = '2025-01-15T10:30'.length

/** `2025-01-15T10:30`, in UTC. */
export function minute(iso: string): string {
  if (CANONICAL.test(iso)) return iso.slice(0, MINUTE_LENGTH)
  return utc(iso)?.slice(0, -':00.000Z'.length) ?? UNKNOWN
}

/** `2025-01-15T10:00:00Z` */
export function second(iso: string): string {
  return utc(iso)?.replace(/\.\d{3}Z$/, 'Z') ?? UNKNOWN
}

/** `2025-01-15T10-00-00-000Z` */
export function fileSafe(iso: string): string {
  return utc(iso)?.replace(/[:.]/g, '-') ?? UNKNOWN
}

/** `2 days`, `3 hours 20 minutes`, `less than a minute`. */
export function duration(fromIso: string, toIso: string): string {
  const minutes = Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000)
  if (Number.isNaN(minutes)) return 'an unknown time'
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return count(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return both(count(hours, 'hour'), minutes % 60, 'minute')
  return both(count(Math.floor(hours / 24), 'day'), hours % 24, 'hour')
}

function utc(iso: string) {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

function both(first: string, rest: number, unit: string) {
  return rest === 0 ? first : `${first} ${count(rest, unit)}`
}

function count(n: number, unit: string) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`
}
