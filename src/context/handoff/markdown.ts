import { safeLine } from '../../text/safe-text.ts'

const STRUCTURE = /^(?:[#<>|+*=~_-]|`{3}|\d{1,9}[.)](?:\s|$)|\[[ xX]\])/

/** Escapes what would start a heading, list, fence or tag. */
export function markdownLine(text: string): string {
  const line = safeLine(text)
  return STRUCTURE.test(line) ? `\\${line}` : line
}

/** Handles backticks in the text. */
export function codeSpan(text: string): string {
  const runs = text.match(/`+/g)?.map(({ length }) => length) ?? []
  const fence = '`'.repeat(1 + Math.max(0, ...runs))
  const room = runs.length > 0 ? ' ' : ''
  return `${fence}${room}${text}${room}${fence}`
}
