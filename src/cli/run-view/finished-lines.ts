import { line } from '../text.ts'
import type { RunEvent } from '../../run/events.ts'
import { span, tokens } from '../amounts.ts'
import { type Style, painter } from './paint.ts'
import { cutTo, padTo, widthOf } from './width.ts'
import { allTokens, commitName, costWords, name } from './words.ts'

const NAME = 28
/** Narrower than this there is room for the name alone. */
const FEWEST = 24

/** The lines that stay above the live view: each task that is settled, and where a session ended and why. */
export function finishedLines(
  event: RunEvent,
  { columns, color }: { columns: number; color: boolean },
): readonly string[] {
  const width = Math.max(1, columns - 1)
  const paint = painter(color)
  const head = (mark: string, style: Style, what: string) => {
    if (width < FEWEST) return { text: cutTo(`${mark} ${what}`, width), room: 0 }
    const longest = Math.min(NAME, Math.max(8, Math.floor(width * 0.45)))
    const shown = cutTo(what, Math.max(1, width - 2))
    return {
      text: `${paint(mark, style)} ${padTo(shown, longest)}`,
      room: width - 2 - Math.max(longest, widthOf(shown)),
    }
  }
  /** Reasons are cut where the line ends. */
  const withReason = (mark: string, style: Style, what: string, reason: string) => {
    const { text, room } = head(mark, style, what)
    return [`${text}${room < 8 ? '' : `  ${cutTo(reason, room - 2)}`}`.trimEnd()]
  }
  switch (event.type) {
    case 'task.done': {
      const { task, seconds, spend, commit } = event
      const { text, room } = head('✓', 'green', name(task))
      const time = span(seconds).padStart(7)
      const cost = costWords(spend).padStart(7)
      const used = `${tokens(allTokens(spend)).padStart(5)} tokens`
      // Half a figure would be a wrong one, so each is there or not.
      const choices = [
        [time, used, cost, commit === undefined ? '' : commitName(commit)],
        [time, used, cost],
        [time, cost],
        [time],
      ]
      const rest = choices
        .map((figures) => `  ${figures.join('  ')}`.trimEnd())
        .find((figures) => widthOf(figures) <= room)
      return [`${text}${rest ?? ''}`.trimEnd()]
    }
    case 'task.parked':
      return withReason('✗', 'red', name(event.task), line(event.reason))
    case 'task.blocked':
      return withReason('⊘', 'yellow', name(event.task), `blocked: ${line(event.reason)}`)
    case 'session.closed':
      // Of several at once each has its own, which ends with its task.
      if (event.delegate !== undefined) return []
      return [
        paint(
          cutTo(`  session ${line(event.name, 40)} closed: ${line(event.because)}`, width),
          'dim',
        ),
      ]
    default:
      return []
  }
}
