// One spelling for every text, whichever way it came (an entry, a file, another tool), so that
// what is rendered and read back is the same text and not an edit.
import { cleanText, oneLine, slug } from '../text/clean.ts'

/** A text of one line. Anything but a string is the empty text. */
export function line(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : ''
}

/** A text of several lines, without blank ones around it. */
export function passage(value: unknown): string {
  return typeof value === 'string' ? cleanText(value) : ''
}

export function joined(...passages: readonly string[]): string {
  return passages
    .map(passage)
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The name a title gets in file names and commands. */
export function shortnameFor(title: string): string {
  const name = slug(title)
  // A title in which nothing can be spelled in Latin letters gets the word for want of a name.
  return name === slug('') && !title.toLowerCase().includes(name) ? 'task' : name
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
