// Amounts as a person reads them: short enough for a line, and alike in every command.

/** `$0.0123`, `$4.56`. */
export function dollars(value: number): string {
  return `$${value < 1 ? value.toFixed(4) : value.toFixed(2)}`
}

/** The same in a column, where cents are enough: `$0.21`. What is less than a cent is not nothing. */
export function cents(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  return usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`
}

/** Tokens in at most five characters: `940`, `9.4k`, `87k`, `1.2M`. */
export function tokens(count: number): string {
  const value = Math.max(0, Math.round(count))
  if (value < 1000) return String(value)
  if (value < 9950) return `${(value / 1000).toFixed(1)}k`
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  return value < 99_950_000
    ? `${(value / 1_000_000).toFixed(1)}M`
    : `${Math.round(value / 1_000_000)}M`
}

/** How long: `47s`, `4m 12s`, `1h 04m`, `2d 03h`. A clock that was set back gives `0s`. */
export function span(seconds: number): string {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds)) : 0
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  const hours = Math.floor(whole / 3600)
  if (hours < 24) return `${hours}h ${two(Math.floor(whole / 60) % 60)}m`
  return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`
}

/** About how long, in whole minutes: seconds of a forecast say nothing. */
export function roughly(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60))
  if (minutes < 60) return `${minutes}m`
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`
}

/** The time of day where the reader is, since without a date it is read as theirs. */
export function clock(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return '--:--:--'
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** A number of bytes as people say it. */
export function size(bytes: number): string {
  let [amount, unit] = [bytes, 0]
  for (; amount >= 1000 && unit < UNITS.length - 1; unit += 1) amount /= 1000
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}
