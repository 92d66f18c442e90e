// Texts as they stand in what is printed.
import { oneLine, shorten } from '../../../text/clean.ts'

/** More of one text than fits any line, so that a huge one is not cleaned whole. */
const READ = 2000
const LONGEST = 160

/** A text from outside as one bounded line. */
export function line(text: string, most = LONGEST): string {
  return shorten(oneLine(text.slice(0, READ)).replaceAll(/\s+/g, ' '), most)
}

export function indent(text: string, by = '   '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `${by}${line}`))
    .join('\n')
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** `   Name: value` for each that has a value. */
export function facts(all: readonly (readonly [string, string])[]): readonly string[] {
  return all.filter(([, value]) => value !== '').map(([name, value]) => `   ${name}: ${value}`)
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** As it may be pasted into a shell. */
export function shellWord(text: string): string {
  const word = line(text)
  return /^[\w./:@#+-]+$/.test(word) && !word.startsWith('#')
    ? word
    : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** `a.ts, b.ts and 3 more` */
export function fileList(files: readonly string[], most = 8): string {
  const more = files.length > most ? ` and ${files.length - most} more` : ''
  return `${files
    .slice(0, most)
    .map((path) => line(path, 80))
    .join(', ')}${more}`
}
