// A prompt in front of a person or a program: the answer as it is written, what is asked, what Ctrl-C does, how it ends.
import type { PermissionRequest, PromptEnd, PromptEvent, PromptHandle } from '../../library.ts'
import { line } from './terminal/text.ts'
import { withoutControls } from '../../text/clean.ts'
import { cents } from './terminal/amounts.ts'
import type { Context } from '../context/context.ts'
import { EXIT } from '../context/errors.ts'
import { INTERRUPTED } from '../context/interrupt.ts'
import { Output } from '../context/output.ts'
import { permissionWords } from './run/words.ts'

type Start = (tell: (event: PromptEvent) => void) => Promise<PromptHandle>

/** Shows a prompt from its start to its end. */
export async function showPrompt(
  context: Context,
  flags: { readonly json?: boolean },
  start: Start,
): Promise<PromptEnd> {
  const stop = new Stop()
  const view = new PromptView(context, flags.json === true, stop)
  try {
    const handle = await start((event) => view.take(event))
    stop.with(handle)
    return await handle.ended
  } finally {
    stop.dispose()
  }
}

export function exitCodeOfPrompt({ how }: PromptEnd): number {
  if (how === 'interrupted') return INTERRUPTED
  return how === 'completed' ? EXIT.ok : EXIT.failure
}

class PromptView {
  readonly #context: Context
  readonly #output: Output
  readonly #isJson: boolean
  readonly #stop: Stop
  /** What was written of the message that is on its way. */
  #written = ''
  #percent: number | undefined
  #name = ''
  #asking: Promise<unknown> = Promise.resolve()
  #isHintGiven = false

  constructor(context: Context, isJson: boolean, stop: Stop) {
    this.#context = context
    this.#output = new Output(context)
    this.#isJson = isJson
    this.#stop = stop
  }

  take(event: PromptEvent): void {
    if (this.#isJson) this.#context.process.stdout.write(`${JSON.stringify(event)}\n`)
    if (event.kind === 'permission.asked')
      return this.#ask(event.data.request, event.data.permission)
    if (!this.#isJson) this.#show(event)
  }

  #show(event: PromptEvent): void {
    if (event.kind === 'delta') this.#write(event.data.text)
    else if (event.kind === 'anew') this.#anew()
    else if (event.kind === 'text') this.#finish(withoutControls(event.data.text))
    else if (event.kind === 'tool') this.#tool(event.data)
    else if (event.kind === 'usage') this.#percent = event.data.gauge.percent
    else if (event.kind === 'context.compacted') this.#talk('the conversation was compacted')
    else if (event.kind === 'limit.reached')
      this.#talk(
        `${line(event.data.message)}${event.data.resetsAt === undefined ? '' : `, until ${event.data.resetsAt}`}`,
      )
    else if (event.kind === 'message') this.#talk(line(event.data.text, 300))
    else if (event.kind === 'prompt.started') {
      const { harness, isFresh, isNewSession, name } = event.data
      this.#name = name
      const where = isFresh ? 'a fresh conversation' : 'the same conversation'
      this.#quietly(`${isNewSession ? 'new session' : 'session'} ${name}, ${harness}, ${where}`)
    } else if (event.kind === 'prompt.ended') this.#end(event.data)
  }

  #write(text: string): void {
    this.#written += text
    this.#context.process.stdout.write(text)
  }

  /** The whole of a message, of which pieces may have been written; they are the beginning of it, but for secrets. */
  #finish(text: string): void {
    const rest = text.startsWith(this.#written) ? text.slice(this.#written.length) : `\n${text}`
    this.#context.process.stdout.write(rest.endsWith('\n') ? rest : `${rest}\n`)
    this.#written = ''
  }

  /** What stands on a terminal cannot be taken back, but it is said that it does not count. */
  #anew(): void {
    if (this.#written === '') return
    this.#context.process.stdout.write('\n')
    this.#written = ''
    this.#talk('the answer broke off, and begins anew')
  }

  #tool({ name, status, command, path, output }: PromptEvent<'tool'>['data']): void {
    if (status === 'completed') return
    const what = command ?? path
    const use = what === undefined ? line(name, 60) : `${line(name, 60)}: ${line(what)}`
    const last = output?.trimEnd().split('\n').at(-1)
    this.#quietly(
      status === 'started'
        ? use
        : `${use} failed${last === undefined ? '' : ` (${line(last, 80)})`}`,
    )
  }

  #ask(request: string, permission: PermissionRequest): void {
    if (this.#isJson || !this.#context.canAsk) {
      this.#stop.handle?.decide(request, false)
      const hint = this.#isHintGiven
        ? ''
        : '; nobody is here to ask: --permissions edits, or all, says beforehand what is allowed'
      this.#isHintGiven = true
      return this.#talk(`refused ${line(permission.title, 200)}${hint}`)
    }
    this.#asking = this.#asking.then(async () => {
      const { askYesOrNo } = await import('../context/ask.ts')
      const answer = await askYesOrNo(permissionWords(permission))
      // The question has the keyboard, and its Ctrl-C is meant for the prompt.
      if (answer === undefined) this.#stop.interrupt()
      this.#stop.handle?.decide(request, answer === true)
    })
  }

  #end({ how, failure, spend, seconds }: PromptEnd): void {
    if (this.#written !== '') this.#finish(this.#written)
    if (how === 'interrupted') this.#talk('interrupted; the next prompt goes on')
    else if (how !== 'completed') this.#talk(`${how}: ${line(failure ?? 'no reason given', 500)}`)
    const figures = [
      this.#name,
      `${Math.round(seconds)} s`,
      ...(spend.usd === undefined || spend.usd === 0 ? [] : [cents(spend.usd)]),
      ...(this.#percent === undefined ? [] : [`context ${this.#percent}%`]),
    ]
    this.#quietly(figures.join(', '))
  }

  #talk(text: string): void {
    this.#output.talk(text)
  }

  #quietly(text: string): void {
    this.#context.process.stderr.write(`${this.#output.dim(`· ${text}`)}\n`)
  }
}

/** Ctrl-C interrupts the agent, a second one ends us at once, and what we started with us. */
class Stop {
  handle: PromptHandle | undefined
  #isStopping = false

  constructor() {
    process.on('SIGINT', this.interrupt).on('SIGTERM', this.interrupt).on('SIGHUP', this.interrupt)
  }

  with(handle: PromptHandle): void {
    this.handle = handle
    // A signal may have come before there was anything to stop.
    if (this.#isStopping) void handle.interrupt()
  }

  dispose(): void {
    process
      .off('SIGINT', this.interrupt)
      .off('SIGTERM', this.interrupt)
      .off('SIGHUP', this.interrupt)
  }

  readonly interrupt = (): void => {
    if (this.#isStopping) process.exit(INTERRUPTED)
    this.#isStopping = true
    void this.handle?.interrupt()
  }
}
