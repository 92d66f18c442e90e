// A run in front of a person or a program: what it looks like, what Ctrl-C does, what is asked, how it ends.
import type { Listener } from '../../../core.ts'
import type { PermissionRequest, RunHandle, RunReport } from '../../../library.ts'
import { type RedactOptions, redactDeep } from '../../../text/redact.ts'
import type { Context } from '../../context/context.ts'
import { EXIT } from '../../context/errors.ts'
import { INTERRUPTED } from '../../context/interrupt.ts'
import { permissionWords } from './words.ts'
import type { Terminal } from '../terminal/live-block.ts'
import { type RunView, LiveView, jsonView, plainView } from './view.ts'
import type { SayBy } from '../../context/with-project.ts'

type Decide = (request: PermissionRequest) => Promise<boolean>
export type Start = (tell: Listener, decide: Decide) => Promise<RunHandle>

/** Shows a run from its start to its end, and leaves the terminal as it was. */
export async function showRun(
  context: Context,
  flags: { readonly json?: boolean | undefined },
  start: Start,
  {
    sayBy = () => {},
    secrets = {},
  }: { readonly sayBy?: SayBy; readonly secrets?: RedactOptions } = {},
): Promise<RunReport> {
  const view = viewFor(context, flags)
  const stderr = context.process.stderr as Partial<NodeJS.WriteStream>
  stderr.on?.('error', nobodyReads)
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
    view.end()
    sayBy(undefined)
    stderr.off?.('error', nobodyReads)
  }
}

/** A terminal that was closed takes no more frames. The run ends in order all the same. */
function nobodyReads(): void {}

function viewFor(context: Context, flags: { readonly json?: boolean | undefined }): RunView {
  const { stdout, stderr } = context.process
  const talk = (text: string) => stderr.write(text)
  if (flags.json === true) return jsonView((text) => stdout.write(text), talk)
  const terminal = stderr as Terminal & { readonly isTTY?: boolean }
  const { env } = context
  if (terminal.isTTY !== true || env.CI !== undefined || env.TERM === 'dumb') return plainView(talk)
  return new LiveView(terminal, { color: env.NO_COLOR === undefined || env.NO_COLOR === '' })
}

/** Ctrl-C once lets the task be finished; twice stops now, as being told to terminate and a closed terminal do. */
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
    // The run says what it does about it; before there is one, nobody else would.
    if (this.#handle === undefined) this.#view.say('stopping')
    else this.#handle.stop(how)
  }
}

/** Puts what the agent wants before the person, one request at a time. */
function asking(view: RunView, stop: Stop): Decide {
  let last: Promise<unknown> = Promise.resolve()
  const ask: Decide = async (request) => {
    const { askOne } = await import('../../context/ask.ts')
    view.pause()
    try {
      const answer = await askOne(permissionWords(request), [
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
