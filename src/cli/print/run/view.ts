import type { RunEvent } from '../../../library.ts'
import { line } from '../terminal/text.ts'
import { clock, span, tokens } from '../terminal/amounts.ts'
import {
  allTokens,
  blockedReason,
  commitName,
  costWords,
  gaugeWords,
  name,
  nearby,
  outcomeIn,
  spendParts,
  stoppingWords,
  wordsOf,
} from './words.ts'
import { frame } from './frame.ts'
import { type Terminal, LiveBlock } from '../terminal/live-block.ts'
import { type ViewState, NOTHING_YET, afterEvent } from './state.ts'
import { type Style, painter } from '../terminal/paint.ts'
import { cutTo, padTo, widthOf } from '../terminal/width.ts'

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

/** Use is told again when it has moved by so many points of the way. */
const POINTS = 5
/** Where nobody knows the way, when so many tokens were added. */
const TOKENS = 10_000

/** A run as lines of a log: the time of day and what. Remembers what it said of the use, to say only what is news. */
export class PlainLog {
  /** By delegate, where several work at once. */
  readonly #saidAt = new Map<string | undefined, number>()
  readonly #worktrees = new Map<string | undefined, string>()
  #task: string | undefined

  lines(event: RunEvent): readonly string[] {
    const { kind, data } = event
    if ((kind === 'run.planned' || kind === 'delegate.started') && data.worktree !== undefined)
      this.#worktrees.set(event.delegate, data.worktree)
    if (kind === 'attempt.started' && event.delegate === undefined) this.#task = name(data.task)
    if (outcomeIn(event) !== undefined) this.#task = undefined
    const words = this.#words(event)
    if (words === undefined) return []
    return [`${clock(event.at)}  ${words}`]
  }

  #words(event: RunEvent): string | undefined {
    if (event.kind === 'usage') return this.#usage(event)
    return event.kind === 'stopping'
      ? stoppingWords(event.data.how, this.#task)
      : wordsOf(nearby(event, this.#worktrees.get(event.delegate)))
  }

  #usage({ delegate, data: { gauge, spend } }: RunEvent<'usage'>): string | undefined {
    // What was used is told, and not yet how full the context is.
    if (gauge.context === 0) return undefined
    const now = gauge.percent === undefined ? gauge.context / TOKENS : gauge.percent / POINTS
    // Less than before is another conversation, or a compaction.
    if (Math.abs(now - (this.#saidAt.get(delegate) ?? 0)) < 1) return undefined
    this.#saidAt.set(delegate, now)
    return `${delegate === undefined ? '' : `[${line(delegate, 40)}] `}ctx ${gaugeWords(gauge)}, spent ${spendParts(spend).slice(0, 3).join(', ')}, ${costWords(spend)}`
  }
}

/** A run drawn in place, with what is finished above. */
export class LiveView implements RunView {
  readonly #block: LiveBlock
  readonly #color: boolean
  #state: ViewState = NOTHING_YET

  constructor(
    terminal: Terminal,
    { color, now = Date.now }: { color: boolean; now?: () => number },
  ) {
    this.#color = color
    this.#block = new LiveBlock(terminal, (size) => frame(this.#state, { ...size, color }), now)
  }

  take(event: RunEvent): void {
    this.#state = afterEvent(this.#state, event)
    this.#block.keep(...finishedLines(event, { columns: this.#block.columns, color: this.#color }))
  }

  say(text: string): void {
    this.#block.keep(`stint: ${line(text, 1000)}`)
  }

  pause(): void {
    this.#block.pause()
  }

  resume(): void {
    this.#block.resume()
  }

  end(): void {
    this.pause()
  }
}

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
  const task = event.task === undefined ? '' : name(event.task)
  if (event.kind === 'task.parked') return withReason('✗', 'red', task, line(event.data.reason))
  // Of several at once each has its own session, which ends with its task.
  if (event.kind === 'session.closed' && event.delegate === undefined) {
    const { name: session = '', because } = event.data
    return [paint(cutTo(`  session ${line(session, 40)} closed: ${line(because)}`, width), 'dim')]
  }
  if (event.kind !== 'attempt.ended') return []
  if (event.data.outcome === 'blocked')
    return withReason('⊘', 'yellow', task, `blocked: ${line(blockedReason(event.data))}`)
  if (event.data.outcome !== 'done') return []
  const { seconds, spend, commit } = event.data
  const { text, room } = head('✓', 'green', task)
  if (seconds === undefined || spend === undefined) return [text.trimEnd()]
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
