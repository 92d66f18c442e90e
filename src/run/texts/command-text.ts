import { safeLine } from '../../text/safe-text.ts'
import { code } from '../../context/handoff/markdown.ts'
import { beginningOf, quoted, wish } from './quoted.ts'

const LONGEST_COMMAND = 2000

/** A command behind the words that name it: as code where it is one line, else in lines of its own, which mean something. */
export function commandText(command: string): string {
  const trimmed = command.trim()
  if (!/[\n\r]/.test(trimmed)) return ` ${code(safeLine(trimmed))}`
  return `\n${quoted('command', beginningOf(wish(trimmed), LONGEST_COMMAND, 'the run runs all of it'))}`
}
