const DAY_MS = 86_400_000

/** The last `span` days, including empty ones, so that gaps are visible. Days are the server's, in UTC. */
export function fillMissingDays<Day extends { readonly day: string }>(
  days: readonly Day[],
  span: number,
  today: Date,
  nothingOn: (day: string) => Day,
): readonly Day[] {
  const known = new Map(days.map((one) => [one.day, one]))
  return Array.from({ length: span }, (_, index) => {
    const day = new Date(today.getTime() - (span - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    return known.get(day) ?? nothingOn(day)
  })
}
