/** `0`, `950`, `12.3k`, `1.20M`, `−4.1k` */
export function formatTokens(count: number): string {
  if (count < 0) return `−${formatTokens(-count)}`
  if (count < 1000) return String(Math.round(count))
  if (count < 999_500)
    return `${count < 99_950 ? (count / 1000).toFixed(1) : Math.round(count / 1000)}k`
  return `${(count / 1_000_000).toFixed(2)}M`
}

export function formatUsd(amount: number): string {
  if (amount === 0) return '$0'
  return amount < 0.01 ? '<$0.01' : `$${amount.toFixed(2)}`
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(count < 10_240 ? 1 : 0)} KB`
  if (count < 1024 ** 3) return `${(count / 1024 ** 2).toFixed(1)} MB`
  return `${(count / 1024 ** 3).toFixed(1)} GB`
}

export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`
}

/** `0.4 ms`, `38 ms`, `1.2 s`, then like formatDuration. */
export function formatMillis(ms: number): string {
  if (ms < 1000) return `${ms < 10 && ms > 0 ? ms.toFixed(1) : Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms / 1000)
}

/** `now`, `5 min`, `3 h`, `2 d`, then the date. */
export function formatAge(at: string, now: number): string {
  const then = Date.parse(at)
  if (Number.isNaN(then)) return at
  const seconds = (now - then) / 1000
  if (seconds < 60) return 'now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d`
  return formatDay(at)
}

export function formatDay(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime())
    ? at
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export function formatClock(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : `${two(date.getHours())}:${two(date.getMinutes())}`
}

const two = (value: number) => String(value).padStart(2, '0')
