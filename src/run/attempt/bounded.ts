import { oneLine } from '../../text/clean.ts'

const LONGEST = 300

/** What a program said, in one line that fits into a log. */
export function bounded(text: string): string {
  const line = oneLine(text)
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`
}
