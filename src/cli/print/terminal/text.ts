// Texts and amounts as every command prints them.
import { oneLine, shorten } from '../../../text/clean.ts'

/** Longer than any line, so that a huge text is not cleaned in full. */
const MAX_READ_LENGTH = 2000
const MAX_LENGTH = 160

/** Foreign text as one line of limited length. */
export function shortLine(text: string, maxLength = MAX_LENGTH): string {
  return shorten(oneLine(text.slice(0, MAX_READ_LENGTH)).replaceAll(/\s+/g, ' '), maxLength)
}

/** `undefined` and `false` are left out; an empty text is an empty line. */
export type Lines = string | undefined | false | readonly Lines[]

export function listLines(...parts: readonly Lines[]): readonly string[] {
  return parts.flatMap((part) =>
    part === undefined || part === false
      ? []
      : typeof part === 'string'
        ? [part]
        : listLines(...part),
  )
}

export function joinLines(...parts: readonly Lines[]): string {
  return listLines(...parts).join('\n')
}

/** An empty line, a title and the lines; nothing without lines. */
export function titledSection(title: string, ...parts: readonly Lines[]): Lines {
  const lines = listLines(...parts)
  return lines.length > 0 && ['', title, ...lines]
}

export function indent(text: string, prefix = '   '): string {
  return text.replaceAll(/(?<=^|\n)(?=[^\n])/g, prefix)
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** `   Name: value` for each that has a value. */
export function labelledLines(
  items: readonly (readonly [string, string | undefined])[],
): readonly string[] {
  return items.flatMap(([name, value = '']) => (value === '' ? [] : [`   ${name}: ${value}`]))
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** `: TEXT`, or nothing for an empty text. */
export function reasonSuffix(text: string | undefined, maxLength?: number): string {
  const line = shortLine(text ?? '', maxLength)
  return line === '' ? '' : `: ${line}`
}

/** Quoted for pasting into a shell. */
export function shellWord(text: string): string {
  const word = shortLine(text)
  return /^[\w./:@#+-]+$/.test(word) && !word.startsWith('#')
    ? word
    : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** `a.ts, b.ts and 3 more` */
export function fileList(files: readonly string[]): string {
  return firstFew(
    files.map((path) => shortLine(path, 80)),
    8,
  )
}

export function firstFew(items: readonly string[], maxLength: number): string {
  const more = items.length > maxLength ? ` and ${items.length - maxLength} more` : ''
  return `${items.slice(0, maxLength).join(', ')}${more}`
}

export function commitPrefix(commit: string): string {
  return firstCharacters(commit, 7)
}

export function firstCharacters(id: string, count: number): string {
  return Array.from(shortLine(id)).slice(0, count).join('')
}

/** `$0.0123`, `$4.56`. */
export function dollars(value: number): string {
  return `$${value < 1 ? value.toFixed(4) : value.toFixed(2)}`
}

/** For columns, where cents are enough. Less than a cent is not shown as zero. */
export function dollarsAndCents(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  return usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`
}

/** Tokens in at most five characters: `940`, `9.4k`, `87k`, `1.2M`. */
export function shortTokens(count: number): string {
  const value = Math.max(0, Math.round(count))
  if (value < 1000) return String(value)
  if (value < 999_500) return `${(value / 1000).toFixed(value < 9950 ? 1 : 0)}k`
  return `${(value / 1_000_000).toFixed(value < 99_950_000 ? 1 : 0)}M`
}

/** `47s`, `4m 12s`, `1h 04m`, `2d 03h`. A clock that was set back gives `0s`. */
export function durationText(seconds: number): string {
  const total = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds)) : 0
  const [minutes, hours] = [Math.floor(total / 60), Math.floor(total / 3600)]
  if (minutes === 0) return `${total}s`
  if (hours === 0) return `${minutes}m ${twoDigits(total % 60)}s`
  return hours < 24
    ? `${hours}h ${twoDigits(minutes % 60)}m`
    : `${Math.floor(hours / 24)}d ${twoDigits(hours % 24)}h`
}

function twoDigits(value: number) {
  return String(value).padStart(2, '0')
}

export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000
}

/** In whole minutes, since a forecast is not exact. */
export function roughDuration(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}

/** Local time, since a time without a date is read as local. */
export function localTime(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return '--:--:--'
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':')
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

export function byteSize(bytes: number): string {
  let [scaled, unit] = [bytes, 0]
  for (; scaled >= 1000 && unit < SIZE_UNITS.length - 1; unit += 1) scaled /= 1000
  return `${unit === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${SIZE_UNITS[unit]}`
}
