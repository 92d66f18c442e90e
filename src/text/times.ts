// A broken clock must not break a view or a file name.

const UNKNOWN = 'unknown-time'
// A time as Stint writes it, on a day that every month has: it needs no parsing.
const CANONICAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const MINUTE_LENGTH = '2025-01-15T10:30'.length

/** `2025-01-15T10:30`, in UTC. */
export function formatToMinute(iso: string): string {
  if (CANONICAL.test(iso)) return iso.slice(0, MINUTE_LENGTH)
  return utc(iso)?.slice(0, -':00.000Z'.length) ?? UNKNOWN
}

/** `2025-01-15T10:00:00Z` */
export function formatToSecond(iso: string): string {
  return utc(iso)?.replace(/\.\d{3}Z$/, 'Z') ?? UNKNOWN
}

/** `2025-01-15T10-00-00-000Z` */
export function timeForFileName(iso: string): string {
  return utc(iso)?.replace(/[:.]/g, '-') ?? UNKNOWN
}

/** `2 days`, `3 hours 20 minutes`, `less than a minute`. */
export function durationBetween(fromIso: string, toIso: string): string {
  const minutes = Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000)
  if (Number.isNaN(minutes)) return 'an unknown time'
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return countUnits(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return joinUnits(countUnits(hours, 'hour'), minutes % 60, 'minute')
  return joinUnits(countUnits(Math.floor(hours / 24), 'day'), hours % 24, 'hour')
}

function utc(iso: string) {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

function joinUnits(first: string, rest: number, unit: string) {
  return rest === 0 ? first : `${first} ${countUnits(rest, unit)}`
}

function countUnits(n: number, unit: string) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`
}

const DAY = 86_400_000
const EPOCH_DAYS = 719_468
const DAYS_OF_400_YEARS = 146_097

/** Like `toISOString`, whose first call takes a hook longer than the rest of its work. Years begin in March, so that the leap day is the last. */
export function isoTime(millis: number): string {
  const days = Math.floor(millis / DAY)
  const since = days + EPOCH_DAYS
  const era = Math.floor(since / DAYS_OF_400_YEARS)
  const day = since - era * DAYS_OF_400_YEARS
  const year = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  )
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const calendarYear = year + era * 400 + (month <= 2 ? 1 : 0)
  if (!(calendarYear >= 1000 && calendarYear <= 9999)) return new Date(millis).toISOString()
  const date = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const millisOfDay = millis - days * DAY
  const clock = [millisOfDay / 3_600_000, (millisOfDay / 60_000) % 60, (millisOfDay / 1000) % 60]
    .map(pad2)
    .join(':')
  return `${calendarYear}-${pad2(month)}-${pad2(date)}T${clock}.${String(1000 + Math.floor(millisOfDay % 1000)).slice(1)}Z`
}

function pad2(number: number) {
  return String(100 + Math.floor(number)).slice(1)
}
