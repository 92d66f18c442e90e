// A run in front of a person or a program: what it looks like, what Ctrl-C does, what is asked, how it ends.
import type { PermissionRequest, RunEvent, RunHandle, RunReport } from '../../../library.ts'
import type { RunListener } from '../../../core.ts'
import { type RedactOptions, redactDeep } from '../../../text/redact.ts'
import { type CliContext, EXIT, INTERRUPTED } from '../../context/context.ts'
import type { RedirectMessages } from '../../context/command.ts'
import { type Style, truncate, padTo, painter, displayWidth } from '../terminal/layout.ts'
import { type Terminal, LiveBlock, liveTerminal } from '../terminal/live.ts'
import { localTime, commitPrefix, shortLine, durationText, shortTokens } from '../terminal/text.ts'
import { renderFrame } from './frame.ts'
import { EMPTY_VIEW, applyEvent, worktreeOf } from './view-state.ts'
import {
  allTokens,
  blockedReason,
  costText,
  gaugeText,
  taskLabel,
  relativeToWorktree,
  permissionQuestion,
  spendParts,
  stoppingText,
  eventText,
} from './event-text.ts'

type Decide = (request: PermissionRequest) => Promise<boolean>
export type StartRun = (tell: RunListener, decide: Decide) => Promise<RunHandle>

export async function showRun(
  context: CliContext,
  flags: { readonly json?: boolean | undefined },
  start: StartRun,
  {
    sayBy = () => {},
    secrets = {},
  }: { readonly sayBy?: RedirectMessages; readonly secrets?: RedactOptions } = {},
): Promise<RunReport> {
  const view = viewFor(context, flags)
  const stderr = context.process.stderr as Partial<NodeJS.WriteStream>
  // A terminal that was closed takes no more frames. The run ends in order all the same.
  const ignore = () => {}
  stderr.on?.('error', ignore)
  sayBy((text) => view.say(text))
  const stop = new Stop(view)
  try {
    // What an agent says and runs may hold a secret, and what is shown of it is kept in logs.
    const handle = await start(
      (event) => view.take(redactDeep(event, secrets).value),
      asking(view, stop),
    )
    stop.with(handle)
    return await handle.ended
  } finally {
    stop.dispose()
    view.pause()
    sayBy(undefined)
    stderr.off?.('error', ignore)
  }
}

function viewFor(context: CliContext, flags: { readonly json?: boolean | undefined }): RunView {
  const { stdout, stderr } = context.process
  const talk = (text: string) => stderr.write(text)
  if (flags.json === true) return jsonView((text) => stdout.write(text), talk)
  const terminal = liveTerminal(context)
  if (terminal === undefined) return plainView(talk)
  const { NO_COLOR = '' } = context.env
  return liveView(terminal, { color: NO_COLOR === '' })
}

/** Ctrl-C once lets the task be finished; twice stops now, as SIGTERM and a closed terminal do. */
class Stop {
  readonly #view: RunView
  #handle: RunHandle | undefined
  #how: 'after task' | 'now' | undefined

  constructor(view: RunView) {
    this.#view = view
    process
      .on('SIGINT', this.interrupt)
      .on('SIGTERM', this.#terminate)
      .on('SIGHUP', this.#terminate)
  }

  /** A signal may have come before there was anything to stop. */
  with(handle: RunHandle): void {
    this.#handle = handle
    if (this.#how !== undefined) handle.stop('now')
  }

  dispose(): void {
    process
      .off('SIGINT', this.interrupt)
      .off('SIGTERM', this.#terminate)
      .off('SIGHUP', this.#terminate)
  }

  readonly interrupt = (): void => this.#stop(this.#how === undefined ? 'after task' : 'now')

  readonly #terminate = (): void => this.#stop('now')

  #stop(how: 'after task' | 'now'): void {
    if (this.#how === 'now') return
    this.#how = how
    // The run itself reports that it stops; before there is one, nothing else would.
    if (this.#handle === undefined) this.#view.say('stopping')
    else this.#handle.stop(how)
  }
}

function asking(view: RunView, stop: Stop): Decide {
  let last: Promise<unknown> = Promise.resolve()
  const ask: Decide = async (request) => {
    const { askChoice } = await import('../../context/ask.ts')
    view.pause()
    try {
      const answer = await askChoice(permissionQuestion(request), [
        { value: 'yes', label: 'Yes, this once' },
        { value: 'no', label: 'No' },
      ])
      // The question has the keyboard, and its Ctrl-C is meant for the run.
      if (answer === undefined) stop.interrupt()
      return answer === 'yes'
    } finally {
      view.resume()
    }
  }
  return (request) => {
    const answer = last.then(() => ask(request))
    last = answer.catch(() => undefined)
    return answer
  }
}

/** 0 when all that was asked for is done, 130 after an interrupt, else 1. */
export function exitCodeOfRun({ how, sessions }: RunReport): number {
  if (how === 'interrupted') return INTERRUPTED
  const tasks = sessions.flatMap((session) => session.tasks)
  const isAllDone = tasks.every((task) => task.outcome === 'done')
  const isAsAsked =
    (how === 'max tasks' || how === 'max sessions') &&
    tasks.every(({ outcome }) => outcome === 'done' || outcome === 'open')
  return (isAllDone && (how === 'finished' || how === 'nothing to do')) || isAsAsked
    ? EXIT.ok
    : EXIT.failure
}

interface RunView {
  take(event: RunEvent): void
  say(text: string): void
  /** Leaves the terminal to a question, until `resume`. */
  pause(): void
  resume(): void
}

type Write = (text: string) => unknown

export function plainView(write: Write): RunView {
  const log = new PlainLog()
  return still((event) => {
    for (const text of log.lines(event)) write(`${text}\n`)
  }, write)
}

export function jsonView(write: Write, talk: Write): RunView {
  return still((event) => void write(`${JSON.stringify(event)}\n`), talk)
}

function still(take: RunView['take'], talk: Write): RunView {
  return {
    take,
    say: (text) => void talk(`stint: ${text}\n`),
    pause: () => {},
    resume: () => {},
  }
}

/** Usage is printed again when it has moved by so many percent of the way. */
const POINTS = 5
/** The same in tokens, where the way is unknown. */
const TOKENS = 10_000

export class PlainLog {
  readonly #saidAt = new Map<string | undefined, number>()
  #state = EMPTY_VIEW

  lines(event: RunEvent): readonly string[] {
    this.#state = applyEvent(this.#state, event)
    const words = this.#words(event)
    return words === undefined ? [] : [`${localTime(event.at)}  ${words}`]
  }

  #words(event: RunEvent): string | undefined {
    if (event.kind === 'usage') return this.#usage(event)
    const { current } = this.#state
    return event.kind === 'stopping'
      ? stoppingText(event.data.how, current && taskLabel(current.task))
      : eventText(relativeToWorktree(event, worktreeOf(this.#state, event)))
  }

  #usage({ delegate, data: { gauge, spend } }: RunEvent<'usage'>): string | undefined {
    // How full the context is, is not known yet.
    if (gauge.context === 0) return undefined
    const now = gauge.percent === undefined ? gauge.context / TOKENS : gauge.percent / POINTS
    // Less than before is another conversation, or a compaction.
    if (Math.abs(now - (this.#saidAt.get(delegate) ?? 0)) < 1) return undefined
    this.#saidAt.set(delegate, now)
    const who = delegate === undefined ? '' : `[${shortLine(delegate, 40)}] `
    return `${who}ctx ${gaugeText(gauge)}, spent ${spendParts(spend).join(', ')}`
  }
}

export function liveView(
  terminal: Terminal,
  { color, now }: { color: boolean; now?: () => number },
): RunView {
  let state = EMPTY_VIEW
  const block = new LiveBlock(terminal, (size) => renderFrame(state, { ...size, color }), now)
  return {
    take(event) {
      state = applyEvent(state, event)
      block.printAbove(...finishedLines(event, { columns: block.columns, color }))
    },
    say: (text) => block.printAbove(`stint: ${shortLine(text, 1000)}`),
    pause: () => block.pause(),
    resume: () => block.resume(),
  }
}

const NAME = 28
const FEWEST = 24

/** The lines that stay above the live view: each task that is settled, and where a session ended and why. */
export function finishedLines(
  event: RunEvent,
  { columns, color }: { columns: number; color: boolean },
): readonly string[] {
  const width = Math.max(1, columns - 1)
  const paint = painter(color)
  const settled = (mark: string, style: Style, rest: (room: number) => string) => {
    const task = event.task === undefined ? '' : taskLabel(event.task)
    if (width < FEWEST) return [truncate(`${mark} ${task}`, width).trimEnd()]
    const longest = Math.min(NAME, Math.max(8, Math.floor(width * 0.45)))
    const shown = truncate(task, Math.max(1, width - 2))
    const room = width - 2 - Math.max(longest, displayWidth(shown))
    return [`${paint(mark, style)} ${padTo(shown, longest)}${rest(room)}`.trimEnd()]
  }
  const cutReason = (reason: string) => (room: number) =>
    room < 8 ? '' : `  ${truncate(reason, room - 2)}`
  if (event.kind === 'task.parked')
    return settled('✗', 'red', cutReason(shortLine(event.data.reason)))
  // Of several at once each has its own session, which ends with its task.
  if (event.kind === 'session.closed' && event.delegate === undefined) {
    const { name: session = '', because } = event.data
    return [
      paint(
        truncate(`  session ${shortLine(session, 40)} closed: ${shortLine(because)}`, width),
        'dim',
      ),
    ]
  }
  if (event.kind !== 'attempt.ended') return []
  const { outcome, seconds, spend, commit } = event.data
  if (outcome === 'blocked')
    return settled('⊘', 'yellow', cutReason(`blocked: ${shortLine(blockedReason(event.data))}`))
  if (outcome !== 'done') return []
  return settled('✓', 'green', (room) => {
    if (seconds === undefined || spend === undefined) return ''
    const time = durationText(seconds).padStart(7)
    const cost = costText(spend).padStart(7)
    const used = `${shortTokens(allTokens(spend)).padStart(5)} tokens`
    // Half a figure would be a wrong one, so each is there or not.
    const choices = [
      [time, used, cost, commit === undefined ? '' : commitPrefix(commit)],
      [time, used, cost],
      [time, cost],
      [time],
    ]
    const fitting = choices
      .map((figures) => `  ${figures.join('  ')}`.trimEnd())
      .find((figures) => displayWidth(figures) <= room)
    return fitting ?? ''
  })
}
