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
  const ofCalendar = year + era * 400 + (month <= 2 ? 1 : 0)
  if (!(ofCalendar >= 1000 && ofCalendar <= 9999)) return new Date(millis).toISOString()
  const date = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const ofDay = millis - days * DAY
  const clock = [ofDay / 3_600_000, (ofDay / 60_000) % 60, (ofDay / 1000) % 60].map(two).join(':')
  return `${ofCalendar}-${two(month)}-${two(date)}T${clock}.${String(1000 + Math.floor(ofDay % 1000)).slice(1)}Z`
}

function two(number: number) {
  return String(100 + Math.floor(number)).slice(1)
}
