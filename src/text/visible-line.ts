import { cleanText } from './clean.ts'

const NEEDS_CLEANING =
  /[\u0000-\u0008\u000A-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069\uD800-\uDFFF]/

/** A line as a terminal finally shows it: without colours, and of a progress bar only its last state. */
export function visibleLine(line: string): string {
  if (!NEEDS_CLEANING.test(line)) return line.trimEnd()
  const rewritten = line.includes('\r')
    ? (line.split('\r').findLast((part) => cleanText(part).trim() !== '') ?? '')
    : line
  const overstruck = /[^\u0008]\u0008/g
  return cleanText(rewritten.replaceAll(overstruck, '')).replaceAll('\n', ' ').trimEnd()
}
