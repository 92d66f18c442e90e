// Those who work at once, a line each: pure, from the events that have their names.
import { line } from '../text.ts'
import { span } from '../amounts.ts'
import type { RunEvent } from '../../run/events.ts'
import type { TaskName } from '../../run/report.ts'
import type { Paint } from './paint.ts'
import { cutTo, padTo, widthOf } from './width.ts'
import { name as nameOf, toolWords } from './words.ts'
import { defined } from '../../text/defined.ts'

export interface AtWork {
  readonly name: string
  readonly task: TaskName
  readonly worktree: string
  readonly startedAt: string
  readonly doing?: string
  /** How full its conversation is, in percent. */
  readonly percent?: number
}

export function atWorkAfter(all: readonly AtWork[], event: RunEvent): readonly AtWork[] {
  if (event.type === 'delegate.started') {
    const { delegate: name, task, worktree, at, isAgain } = event
    const rest = all.filter((one) => one.name !== name)
    return [
      ...rest,
      { name, task, worktree, startedAt: at, ...(isAgain ? { doing: 'begun again' } : {}) },
    ]
  }
  if (event.type === 'task.done' || event.type === 'task.parked' || event.type === 'task.blocked')
    return all.filter(({ task }) => task.id !== event.task.id)
  const doing = doingAfter(event)
  const percent = event.type === 'usage' ? event.gauge.percent : undefined
  if (doing === undefined && percent === undefined) return all
  return all.map((one) =>
    one.name === event.delegate
      ? {
          ...one,
          ...defined({ doing, percent }),
        }
      : one,
  )
}

function doingAfter(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'task.started':
      return event.attempt === 1 ? undefined : `attempt ${event.attempt}`
    case 'tool':
      return event.status === 'started' ? toolWords(event) : undefined
    case 'verify.started':
      return `verifying with ${line(event.command, 60)}`
    case 'verify.ended':
      return event.passed ? 'verified' : 'verify failed'
    case 'delegate.ready':
      return 'ready, to be merged in its turn'
    case 'delegate.conflicted':
      return `not merged: ${line(event.because)}`
    default:
      return undefined
  }
}

const LONGEST_NAME = 24
/** With less there is room for the name alone. */
const LEAST_DOING = 8

/** Each on one line: whose task, how long, how full, doing what. */
export function atWorkLines(
  all: readonly AtWork[],
  width: number,
  now: string,
  paint: Paint,
): readonly string[] {
  const names = all.map(({ task }) =>
    cutTo(nameOf(task), Math.min(LONGEST_NAME, Math.max(8, Math.floor(width * 0.35)))),
  )
  const longest = Math.max(0, ...names.map(widthOf))
  return all.map(({ startedAt, doing = '', percent }, index) => {
    const seconds = (Date.parse(now) - Date.parse(startedAt)) / 1000
    const full = percent === undefined ? '' : `${Math.round(percent)}%`
    const figures = ` ${span(seconds).padStart(7)} ${full.padStart(4)}`
    const room = width - longest - widthOf(figures) - 2
    if (room < 0) return paint(cutTo(names[index]!, width), 'cyan')
    const more = room < LEAST_DOING ? '' : `  ${cutTo(doing, room)}`
    return `${paint(padTo(names[index]!, longest), 'cyan')}${figures}${more}`.trimEnd()
  })
}
