// Texts and amounts as they are printed, alike in every command.
import { oneLine, shorten } from '../../../text/clean.ts'

/** More of one text than fits any line, so that a huge one is not cleaned whole. */
const READ = 2000
const LONGEST = 160

/** A text from outside as one bounded line. */
export function shortLine(text: string, most = LONGEST): string {
  return shorten(oneLine(text.slice(0, READ)).replaceAll(/\s+/g, ' '), most)
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

/** Lines below an empty one and a title; nothing where there are none. */
export function titledSection(title: string, ...parts: readonly Lines[]): Lines {
  const lines = listLines(...parts)
  return lines.length > 0 && ['', title, ...lines]
}

export function indent(text: string, by = '   '): string {
  return text.replaceAll(/(?<=^|\n)(?=[^\n])/g, by)
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** `   Name: value` for each that has a value. */
export function labelledLines(
  all: readonly (readonly [string, string | undefined])[],
): readonly string[] {
  return all.flatMap(([name, value = '']) => (value === '' ? [] : [`   ${name}: ${value}`]))
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** `: TEXT`, or nothing where it is empty. */
export function reasonSuffix(text: string | undefined, most?: number): string {
  const words = shortLine(text ?? '', most)
  return words === '' ? '' : `: ${words}`
}

/** As it may be pasted into a shell. */
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

export function firstFew(all: readonly string[], most: number): string {
  const more = all.length > most ? ` and ${all.length - most} more` : ''
  return `${all.slice(0, most).join(', ')}${more}`
}

/** As much of a commit's id as tells it from the others. */
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

/** The same in a column, where cents are enough. Less than a cent is not nothing. */
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
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds)) : 0
  const [minutes, hours] = [Math.floor(whole / 60), Math.floor(whole / 3600)]
  if (minutes === 0) return `${whole}s`
  if (hours === 0) return `${minutes}m ${two(whole % 60)}s`
  return hours < 24
    ? `${hours}h ${two(minutes % 60)}m`
    : `${Math.floor(hours / 24)}d ${two(hours % 24)}h`
}

function two(value: number) {
  return String(value).padStart(2, '0')
}

export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000
}

/** In whole minutes: seconds of a forecast say nothing. */
export function roughDuration(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
}

/** The time of day where the reader is, since without a date it is read as theirs. */
export function localTime(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return '--:--:--'
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

export function byteSize(bytes: number): string {
  let [amount, unit] = [bytes, 0]
  for (; amount >= 1000 && unit < UNITS.length - 1; unit += 1) amount /= 1000
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}
