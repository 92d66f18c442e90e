// Shows a prompt to the user or prints its events: streams the answer, asks for permissions, handles Ctrl-C.
import type { PermissionRequest, PromptEnd, PromptEvent, PromptHandle } from '../../library.ts'
import { withoutControls } from '../../text/clean.ts'
import { printableJson } from '../../text/printable.ts'
import { type CliContext, EXIT, Output } from '../context/context.ts'
import { permissionQuestion } from './run/event-text.ts'
import { dollarsAndCents, shortLine } from './terminal/text.ts'

type StartPrompt = (onEvent: (event: PromptEvent) => void) => Promise<PromptHandle>

export async function showPrompt(
  context: CliContext,
  flags: { readonly json?: boolean },
  start: StartPrompt,
): Promise<PromptEnd> {
  const interrupter = new PromptInterrupter()
  const view = new PromptView(context, flags.json === true, interrupter)
  try {
    const handle = await start((event) => view.take(event))
    interrupter.attach(handle)
    return await handle.ended
  } finally {
    interrupter.dispose()
  }
}

export function exitCodeOfPrompt({ how }: PromptEnd): number {
  if (how === 'interrupted') return EXIT.interrupted
  return how === 'completed' ? EXIT.ok : EXIT.failure
}

class PromptView {
  readonly #context: CliContext
  readonly #output: Output
  readonly #isJson: boolean
  readonly #interrupter: PromptInterrupter
  /** The printed part of the current message. */
  #printed = ''
  #percent: number | undefined
  #name = ''
  #asking: Promise<unknown> = Promise.resolve()
  #isHintShown = false

  constructor(context: CliContext, isJson: boolean, interrupter: PromptInterrupter) {
    this.#context = context
    this.#output = new Output(context)
    this.#isJson = isJson
    this.#interrupter = interrupter
  }

  take(event: PromptEvent): void {
    if (this.#isJson) this.#print(`${printableJson(event)}\n`)
    if (event.kind === 'permission.asked') this.#ask(event.data.request, event.data.permission)
    else if (!this.#isJson) this.#show(event)
  }

  #show({ kind, data }: PromptEvent): void {
    switch (kind) {
      case 'delta':
        this.#printed += data.text
        return this.#print(data.text)
      case 'anew':
        // Printed text cannot be removed, so a notice says that the answer restarts.
        if (this.#printed === '') return
        this.#print('\n')
        this.#printed = ''
        return this.#info('the answer broke off, and begins anew')
      case 'text':
        return this.#completeMessage(withoutControls(data.text))
      case 'tool':
        return this.#tool(data)
      case 'usage':
        this.#percent = data.gauge.percent
        return
      case 'context.compacted':
        return this.#info('the conversation was compacted')
      case 'limit.reached': {
        const until = data.resetsAt === undefined ? '' : `, until ${data.resetsAt}`
        return this.#info(`${shortLine(data.message)}${until}`)
      }
      case 'message':
        return this.#info(shortLine(data.text, 300))
      case 'prompt.started': {
        this.#name = data.name
        const session = data.isNewSession ? 'new session' : 'session'
        const where = data.isFresh ? 'a fresh conversation' : 'the same conversation'
        return this.#printDim(`${session} ${data.name}, ${data.harness}, ${where}`)
      }
      case 'prompt.ended':
        return this.#end(data)
    }
  }

  #print(text: string): void {
    this.#context.process.stdout.write(text)
  }

  /** Completes a message. The printed deltas are its beginning, except where a secret was redacted. */
  #completeMessage(text: string): void {
    const rest = text.startsWith(this.#printed) ? text.slice(this.#printed.length) : `\n${text}`
    this.#print(rest.endsWith('\n') ? rest : `${rest}\n`)
    this.#printed = ''
  }

  #tool({ name, status, command, path, output }: PromptEvent<'tool'>['data']): void {
    if (status === 'completed') return
    const target = command ?? path
    const toolText = `${shortLine(name, 60)}${target === undefined ? '' : `: ${shortLine(target)}`}`
    const last = output?.trimEnd().split('\n').at(-1)
    const failed = ` failed${last === undefined ? '' : ` (${shortLine(last, 80)})`}`
    this.#printDim(`${toolText}${status === 'started' ? '' : failed}`)
  }

  #ask(request: string, permission: PermissionRequest): void {
    if (this.#isJson || !this.#context.canAsk) {
      this.#interrupter.handle?.decide(request, false)
      const hint = this.#isHintShown
        ? ''
        : '; nobody is here to ask: --permissions edits, or all, says beforehand what is allowed'
      this.#isHintShown = true
      return this.#info(`refused ${shortLine(permission.title, 200)}${hint}`)
    }
    this.#asking = this.#asking.then(async () => {
      const { askYesOrNo } = await import('../context/ask.ts')
      const answer = await askYesOrNo(permissionQuestion(permission))
      // The question captures the keyboard, so its Ctrl-C interrupts the prompt.
      if (answer === undefined) this.#interrupter.interrupt()
      this.#interrupter.handle?.decide(request, answer === true)
    })
  }

  #end({ how, failure, spend, seconds }: PromptEnd): void {
    if (this.#printed !== '') this.#completeMessage(this.#printed)
    if (how === 'interrupted') this.#info('interrupted; the next prompt goes on')
    else if (how !== 'completed')
      this.#info(`${how}: ${shortLine(failure ?? 'no reason given', 500)}`)
    const cost = (spend.usd ?? 0) === 0 ? '' : `, ${dollarsAndCents(spend.usd)}`
    const contextText = this.#percent === undefined ? '' : `, context ${this.#percent}%`
    this.#printDim(`${this.#name}, ${Math.round(seconds)} s${cost}${contextText}`)
  }

  #info(text: string): void {
    this.#output.info(text)
  }

  #printDim(text: string): void {
    this.#context.process.stderr.write(`${this.#output.dim(`· ${text}`)}\n`)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Ctrl-C interrupts the agent; a second one ends Stint and its child processes at once. */
class PromptInterrupter {
  handle: PromptHandle | undefined
  #isStopping = false

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.interrupt)
  }

  attach(handle: PromptHandle): void {
    this.handle = handle
    // A signal may have arrived before the start.
    if (this.#isStopping) void handle.interrupt()
  }

  dispose(): void {
    for (const signal of SIGNALS) process.off(signal, this.interrupt)
  }

  readonly interrupt = (): void => {
    if (this.#isStopping) process.exit(EXIT.interrupted)
    this.#isStopping = true
    void this.handle?.interrupt()
  }
}
