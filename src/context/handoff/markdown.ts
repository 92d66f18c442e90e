import { safeLine } from '../../text/safe-text.ts'

const STRUCTURE = /^(?:[#<>|+*=~_-]|`{3}|\d{1,9}[.)](?:\s|$)|\[[ xX]\])/

/** A recorded text on one line that makes no heading, list, fence or tag. */
export function markdownLine(text: string): string {
  const line = safeLine(text)
  return STRUCTURE.test(line) ? `\\${line}` : line
}

/** A path or a command as code, whatever it holds. */
export function codeSpan(text: string): string {
  const runs = text.match(/`+/g)?.map(({ length }) => length) ?? []
  const fence = '`'.repeat(1 + Math.max(0, ...runs))
  const room = runs.length > 0 ? ' ' : ''
  return `${fence}${room}${text}${room}${fence}`
}
