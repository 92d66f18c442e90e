// Shows a run to the user or prints its events: live view, log or JSON, permissions, Ctrl-C, exit code.
import type { PermissionRequest, RunEvent, RunHandle, RunReport } from '../../../library.ts'
import type { RunListener } from '../../../core.ts'
import { printableJson } from '../../../text/printable.ts'
import { type RedactOptions, redactDeep } from '../../../text/redact.ts'
import { type CliContext, EXIT } from '../../context/context.ts'
import type { RedirectMessages } from '../../context/command.ts'
import { type Style, truncate, padTo, painter, displayWidth } from '../terminal/layout.ts'
import { type Terminal, LiveBlock, liveTerminal } from '../terminal/live-block.ts'
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
export type StartRun = (onEvent: RunListener, decide: Decide) => Promise<RunHandle>

export async function showRun(
  context: CliContext,
  flags: { readonly json?: boolean | undefined },
  start: StartRun,
  {
    redirectMessages = () => {},
    secrets = {},
  }: { readonly redirectMessages?: RedirectMessages; readonly secrets?: RedactOptions } = {},
): Promise<RunReport> {
  const view = createView(context, flags)
  const stderr = context.process.stderr as Partial<NodeJS.WriteStream>
  // A closed terminal must not end the run.
  const ignoreError = () => {}
  stderr.on?.('error', ignoreError)
  redirectMessages((text) => view.say(text))
  const stopper = new RunStopper(view)
  try {
    // Agents may print secrets, and output ends up in logs.
    const handle = await start(
      (event) => view.take(redactDeep(event, secrets).value),
      permissionPrompt(view, stopper),
    )
    stopper.attach(handle)
    return await handle.ended
  } finally {
    stopper.dispose()
    view.pause()
    redirectMessages(undefined)
    stderr.off?.('error', ignoreError)
  }
}

function createView(context: CliContext, flags: { readonly json?: boolean | undefined }): RunView {
  const { stdout, stderr } = context.process
  const info = (text: string) => stderr.write(text)
  if (flags.json === true) return jsonView((text) => stdout.write(text), info)
  const terminal = liveTerminal(context)
  if (terminal === undefined) return plainView(info)
  const { NO_COLOR = '' } = context.env
  return liveView(terminal, { color: NO_COLOR === '' })
}

/** The first Ctrl-C finishes the task; a second one, SIGTERM or a closed terminal stops now. */
class RunStopper {
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

  /** A signal may have arrived before the start. */
  attach(handle: RunHandle): void {
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
    // The run itself reports that it stops; before it exists, nothing else would.
    if (this.#handle === undefined) this.#view.say('stopping')
    else this.#handle.stop(how)
  }
}

function permissionPrompt(view: RunView, stopper: RunStopper): Decide {
  let last: Promise<unknown> = Promise.resolve()
  const ask: Decide = async (request) => {
    const { askChoice } = await import('../../context/ask.ts')
    view.pause()
    try {
      const answer = await askChoice(permissionQuestion(request), [
        { value: 'yes', label: 'Yes, this once' },
        { value: 'no', label: 'No' },
      ])
      // The question captures the keyboard, so its Ctrl-C interrupts the run.
      if (answer === undefined) stopper.interrupt()
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

/** 0 when everything requested is done, 130 after an interrupt, else 1. */
export function exitCodeOfRun({ how, sessions }: RunReport): number {
  if (how === 'interrupted') return EXIT.interrupted
  const tasks = sessions.flatMap((session) => session.tasks)
  const isAllDone = tasks.every((task) => task.outcome === 'done')
  const isWithinLimit =
    (how === 'max tasks' || how === 'max sessions') &&
    tasks.every(({ outcome }) => outcome === 'done' || outcome === 'open')
  return (isAllDone && (how === 'finished' || how === 'nothing to do')) || isWithinLimit
    ? EXIT.ok
    : EXIT.failure
}

interface RunView {
  take(event: RunEvent): void
  say(text: string): void
  /** Frees the terminal for a question, until `resume`. */
  pause(): void
  resume(): void
}

type Write = (text: string) => unknown

export function plainView(write: Write): RunView {
  const log = new PlainLog()
  return staticView((event) => {
    for (const text of log.lines(event)) write(`${text}\n`)
  }, write)
}

export function jsonView(write: Write, info: Write): RunView {
  return staticView((event) => void write(`${printableJson(event)}\n`), info)
}

function staticView(take: RunView['take'], info: Write): RunView {
  return {
    take,
    say: (text) => void info(`stint: ${text}\n`),
    pause: () => {},
    resume: () => {},
  }
}

/** Usage is printed again after a change of this many percent. */
const MIN_PERCENT_CHANGE = 5
/** The same in tokens, where the compaction point is unknown. */
const MIN_TOKEN_CHANGE = 10_000

export class PlainLog {
  readonly #printedUsage = new Map<string | undefined, number>()
  #state = EMPTY_VIEW

  lines(event: RunEvent): readonly string[] {
    this.#state = applyEvent(this.#state, event)
    const line = this.#text(event)
    return line === undefined ? [] : [`${localTime(event.at)}  ${line}`]
  }

  #text(event: RunEvent): string | undefined {
    if (event.kind === 'usage') return this.#usage(event)
    const { current } = this.#state
    return event.kind === 'stopping'
      ? stoppingText(event.data.how, current && taskLabel(current.task))
      : eventText(relativeToWorktree(event, worktreeOf(this.#state, event)))
  }

  #usage({ delegate, data: { gauge, spend } }: RunEvent<'usage'>): string | undefined {
    // The context size is not known yet.
    if (gauge.context === 0) return undefined
    const now =
      gauge.percent === undefined
        ? gauge.context / MIN_TOKEN_CHANGE
        : gauge.percent / MIN_PERCENT_CHANGE
    // A drop means another conversation or a compaction.
    if (Math.abs(now - (this.#printedUsage.get(delegate) ?? 0)) < 1) return undefined
    this.#printedUsage.set(delegate, now)
    const delegatePrefix = delegate === undefined ? '' : `[${shortLine(delegate, 40)}] `
    return `${delegatePrefix}ctx ${gaugeText(gauge)}, spent ${spendParts(spend).join(', ')}`
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

const MAX_NAME_WIDTH = 28
const MIN_WIDTH = 24

/** The lines that stay above the live view: each finished task, and where and why a session ended. */
export function finishedLines(
  event: RunEvent,
  { columns, color }: { columns: number; color: boolean },
): readonly string[] {
  const width = Math.max(1, columns - 1)
  const paint = painter(color)
  const finishedLine = (symbol: string, style: Style, rest: (room: number) => string) => {
    const task = event.task === undefined ? '' : taskLabel(event.task)
    if (width < MIN_WIDTH) return [truncate(`${symbol} ${task}`, width).trimEnd()]
    const longest = Math.min(MAX_NAME_WIDTH, Math.max(8, Math.floor(width * 0.45)))
    const shown = truncate(task, Math.max(1, width - 2))
    const room = width - 2 - Math.max(longest, displayWidth(shown))
    return [`${paint(symbol, style)} ${padTo(shown, longest)}${rest(room)}`.trimEnd()]
  }
  const reasonThatFits = (reason: string) => (room: number) =>
    room < 8 ? '' : `  ${truncate(reason, room - 2)}`
  if (event.kind === 'task.parked')
    return finishedLine('✗', 'red', reasonThatFits(shortLine(event.data.reason)))
  // In a parallel run each task has its own session, which ends with it.
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
    return finishedLine(
      '⊘',
      'yellow',
      reasonThatFits(`blocked: ${shortLine(blockedReason(event.data))}`),
    )
  if (outcome !== 'done') return []
  return finishedLine('✓', 'green', (room) => {
    if (seconds === undefined || spend === undefined) return ''
    const time = durationText(seconds).padStart(7)
    const cost = costText(spend).padStart(7)
    const used = `${shortTokens(allTokens(spend)).padStart(5)} tokens`
    // A truncated figure would be wrong, so each is shown in full or not at all.
    const choices = [
      [time, used, cost, commit === undefined ? '' : commitPrefix(commit)],
      [time, used, cost],
      [time, cost],
      [time],
    ]
    const fittingFigures = choices
      .map((figures) => `  ${figures.join('  ')}`.trimEnd())
      .find((figures) => displayWidth(figures) <= room)
    return fittingFigures ?? ''
  })
}
