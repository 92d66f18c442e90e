import type { RunEvent } from '../../run/events.ts'
import { PlainLog } from './plain-log.ts'

/** How a run is shown while it goes on. */
export interface RunView {
  take(event: RunEvent): void
  /** A line for the person that is no event. */
  say(text: string): void
  /** Leaves the terminal to a question, until `resume`. */
  pause(): void
  resume(): void
  /** Leaves nothing behind but what was to stay. May be called twice. */
  end(): void
}

type Write = (text: string) => unknown

/** Off a terminal: a line for each thing that happens, as it happens. */
export function plainView(write: Write): RunView {
  const log = new PlainLog()
  return still((event) => {
    for (const text of log.lines(event)) write(`${text}\n`)
  }, write)
}

/** For programs: each event as one line of JSON. What is said besides goes where talk goes. */
export function jsonView(write: Write, talk: Write): RunView {
  return still((event) => void write(`${eventLine(event)}\n`), talk)
}

/** An event as one line of JSON. */
export function eventLine(event: RunEvent): string {
  return JSON.stringify(event)
}

function still(take: (event: RunEvent) => void, talk: Write): RunView {
  const nothing = () => {}
  return {
    take,
    say: (text) => void talk(`stint: ${text}\n`),
    pause: nothing,
    resume: nothing,
    end: nothing,
  }
}
