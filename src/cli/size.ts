const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** A number of bytes as people say it. */
export function size(bytes: number): string {
  let [amount, unit] = [bytes, 0]
  for (; amount >= 1000 && unit < UNITS.length - 1; unit += 1) amount /= 1000
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}
