// A prompt in front of a person or a program: the answer as it is written, what is asked, what Ctrl-C does, how it ends.
import type { PermissionRequest, PromptEnd, PromptEvent, PromptHandle } from '../../library.ts'
import { withoutControls } from '../../text/clean.ts'
import { type CliContext, EXIT, INTERRUPTED, Output } from '../context/context.ts'
import { permissionQuestion } from './run/event-text.ts'
import { dollarsAndCents, shortLine } from './terminal/text.ts'

type Start = (tell: (event: PromptEvent) => void) => Promise<PromptHandle>

export async function showPrompt(
  context: CliContext,
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
  readonly #context: CliContext
  readonly #output: Output
  readonly #isJson: boolean
  readonly #stop: Stop
  /** What was printed of the message that is being written. */
  #written = ''
  #percent: number | undefined
  #name = ''
  #asking: Promise<unknown> = Promise.resolve()
  #isHintGiven = false

  constructor(context: CliContext, isJson: boolean, stop: Stop) {
    this.#context = context
    this.#output = new Output(context)
    this.#isJson = isJson
    this.#stop = stop
  }

  take(event: PromptEvent): void {
    if (this.#isJson) this.#print(`${JSON.stringify(event)}\n`)
    if (event.kind === 'permission.asked') this.#ask(event.data.request, event.data.permission)
    else if (!this.#isJson) this.#show(event)
  }

  #show({ kind, data }: PromptEvent): void {
    switch (kind) {
      case 'delta':
        this.#written += data.text
        return this.#print(data.text)
      case 'anew':
        // What is on a terminal cannot be taken back, so the person is told that it does not count.
        if (this.#written === '') return
        this.#print('\n')
        this.#written = ''
        return this.#talk('the answer broke off, and begins anew')
      case 'text':
        return this.#finish(withoutControls(data.text))
      case 'tool':
        return this.#tool(data)
      case 'usage':
        this.#percent = data.gauge.percent
        return
      case 'context.compacted':
        return this.#talk('the conversation was compacted')
      case 'limit.reached': {
        const until = data.resetsAt === undefined ? '' : `, until ${data.resetsAt}`
        return this.#talk(`${shortLine(data.message)}${until}`)
      }
      case 'message':
        return this.#talk(shortLine(data.text, 300))
      case 'prompt.started': {
        this.#name = data.name
        const session = data.isNewSession ? 'new session' : 'session'
        const where = data.isFresh ? 'a fresh conversation' : 'the same conversation'
        return this.#quietly(`${session} ${data.name}, ${data.harness}, ${where}`)
      }
      case 'prompt.ended':
        return this.#end(data)
    }
  }

  #print(text: string): void {
    this.#context.process.stdout.write(text)
  }

  /** The whole of a message. The printed pieces are its beginning, except for redacted secrets. */
  #finish(text: string): void {
    const rest = text.startsWith(this.#written) ? text.slice(this.#written.length) : `\n${text}`
    this.#print(rest.endsWith('\n') ? rest : `${rest}\n`)
    this.#written = ''
  }

  #tool({ name, status, command, path, output }: PromptEvent<'tool'>['data']): void {
    if (status === 'completed') return
    const what = command ?? path
    const use = `${shortLine(name, 60)}${what === undefined ? '' : `: ${shortLine(what)}`}`
    const last = output?.trimEnd().split('\n').at(-1)
    const failed = ` failed${last === undefined ? '' : ` (${shortLine(last, 80)})`}`
    this.#quietly(`${use}${status === 'started' ? '' : failed}`)
  }

  #ask(request: string, permission: PermissionRequest): void {
    if (this.#isJson || !this.#context.canAsk) {
      this.#stop.handle?.decide(request, false)
      const hint = this.#isHintGiven
        ? ''
        : '; nobody is here to ask: --permissions edits, or all, says beforehand what is allowed'
      this.#isHintGiven = true
      return this.#talk(`refused ${shortLine(permission.title, 200)}${hint}`)
    }
    this.#asking = this.#asking.then(async () => {
      const { askYesOrNo } = await import('../context/ask.ts')
      const answer = await askYesOrNo(permissionQuestion(permission))
      // The question has the keyboard, and its Ctrl-C is meant for the prompt.
      if (answer === undefined) this.#stop.interrupt()
      this.#stop.handle?.decide(request, answer === true)
    })
  }

  #end({ how, failure, spend, seconds }: PromptEnd): void {
    if (this.#written !== '') this.#finish(this.#written)
    if (how === 'interrupted') this.#talk('interrupted; the next prompt goes on')
    else if (how !== 'completed')
      this.#talk(`${how}: ${shortLine(failure ?? 'no reason given', 500)}`)
    const cost = (spend.usd ?? 0) === 0 ? '' : `, ${dollarsAndCents(spend.usd)}`
    const full = this.#percent === undefined ? '' : `, context ${this.#percent}%`
    this.#quietly(`${this.#name}, ${Math.round(seconds)} s${cost}${full}`)
  }

  #talk(text: string): void {
    this.#output.info(text)
  }

  #quietly(text: string): void {
    this.#context.process.stderr.write(`${this.#output.dim(`· ${text}`)}\n`)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Ctrl-C interrupts the agent; a second one ends Stint at once, and its child processes. */
class Stop {
  handle: PromptHandle | undefined
  #isStopping = false

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.interrupt)
  }

  with(handle: PromptHandle): void {
    this.handle = handle
    // A signal may have come before there was anything to stop.
    if (this.#isStopping) void handle.interrupt()
  }

  dispose(): void {
    for (const signal of SIGNALS) process.off(signal, this.interrupt)
  }

  readonly interrupt = (): void => {
    if (this.#isStopping) process.exit(INTERRUPTED)
    this.#isStopping = true
    void this.handle?.interrupt()
  }
}
