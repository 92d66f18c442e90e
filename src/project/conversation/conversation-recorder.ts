// Stores a conversation that Stint drives, for harnesses that write no transcript.
import type { Conversation, HarnessEvent } from '../../harness/contract/drive.ts'
import type { ContextSize, HistoryItem, Message, MessagePart } from '../../history/items.ts'
import type { ConversationStore } from '../../history/store.ts'
import { addUsage } from '../../harness/contract/usage.ts'
import { mintId } from '../../journal/ids.ts'
import type { Usage } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'

/** Never throws: a failed write is reported, and the conversation continues. */
export interface ConversationRecorder {
  recordPrompt(text: string): void
  recordEvent(event: HarnessEvent): void
  recordClose(): void
}

export function withRecorder(
  conversation: Conversation,
  recorder: ConversationRecorder,
): Conversation {
  let closing: Promise<void> | undefined
  return {
    get id() {
      return conversation.id
    },
    process: conversation.process,
    async *prompt(text) {
      recorder.recordPrompt(text)
      for await (const event of conversation.prompt(text)) {
        recorder.recordEvent(event)
        yield event
      }
    },
    interrupt: () => conversation.interrupt(),
    close: () => (closing ??= conversation.close().then(() => recorder.recordClose())),
  }
}

export function stopAfterFirstFailure(say: (text: string) => void): (work: () => void) => void {
  let hasFailed = false
  return (work) => {
    if (hasFailed) return
    try {
      work()
    } catch (error) {
      hasFailed = true
      say(`what is said is not stored: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

export interface StreamRecorderOptions {
  readonly store: ConversationStore
  readonly harness: string
  readonly cwd: string
  readonly say: (text: string) => void
}

/** Items within this time are written together. */
const WRITE_DELAY_MS = 250

export class StreamRecorder implements ConversationRecorder {
  readonly #options: StreamRecorderOptions
  #items: HistoryItem[] = []
  /** The agent's last text, held back because its usage follows it. */
  #text: Message | undefined
  #used: Usage | undefined
  #context: ContextSize | undefined
  #conversation: string | undefined
  #model: string | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #attempt: (work: () => void) => void

  constructor(options: StreamRecorderOptions) {
    this.#options = options
    this.#attempt = stopAfterFirstFailure(options.say)
  }

  recordPrompt(text: string): void {
    this.#attempt(() => {
      this.#add(message('user', [{ type: 'text', text }]))
      this.#write()
    })
  }

  recordEvent(event: HarnessEvent): void {
    this.#attempt(() => this.#handle(event))
  }

  recordClose(): void {
    this.#attempt(() => {
      this.#flushText()
      this.#addRemainingUsage()
      if (this.#conversation !== undefined)
        this.#add({ type: 'ended', at: now(), reason: 'closed' })
      this.#write()
    })
  }

  #handle(event: HarnessEvent): void {
    if (event.type === 'usage') return this.#addUsage(event)
    if (event.type === 'delta' || event.type === 'anew') return
    this.#flushText()
    if (event.type === 'started') this.#start(event)
    else if (event.type === 'text')
      this.#text = this.#assistantMessage([{ type: 'text', text: event.text }])
    else if (event.type === 'tool') this.#addTool(event)
    else if (event.type === 'compaction') {
      const { boundary = mintId(undefined), trigger, tokensBefore } = event
      // The size from before the compaction no longer holds.
      this.#context = undefined
      this.#add({
        type: 'compaction',
        id: boundary,
        at: now(),
        ...defined({ trigger, tokensBefore }),
      })
    } else if (event.type === 'turn ended') {
      const { failure } = event
      if (failure !== undefined)
        this.#add({ ...message('assistant', [{ type: 'text', text: failure }]), isFailure: true })
      this.#addRemainingUsage()
      return this.#write()
    }
    this.#timer ??= setTimeout(() => this.#attempt(() => this.#write()), WRITE_DELAY_MS).unref()
  }

  #start({ conversation, model }: Extract<HarnessEvent, { type: 'started' }>): void {
    this.#conversation = conversation
    this.#model = model
    const { store, harness, cwd } = this.#options
    if (!store.has(conversation))
      this.#items.unshift({
        type: 'began',
        conversation,
        harness,
        at: now(),
        cwd,
        ...defined({ model }),
      })
    this.#write()
  }

  #addTool({
    id,
    name,
    status,
    command,
    path,
    output,
  }: Extract<HarnessEvent, { type: 'tool' }>): void {
    if (status === 'started')
      return this.#add(
        this.#assistantMessage([{ type: 'tool use', id, name, input: defined({ command, path }) }]),
      )
    const parts: readonly MessagePart[] =
      output === undefined ? [] : [{ type: 'text', text: output }]
    this.#add(
      message('user', [{ type: 'tool result', use: id, parts, isError: status === 'failed' }]),
    )
  }

  #addUsage({
    spent,
    model,
    context: tokens,
    window,
    point,
  }: Extract<HarnessEvent, { type: 'usage' }>): void {
    this.#model ??= model
    if (tokens !== undefined) this.#context = { tokens, ...defined({ window, point }) }
    if (spent === undefined) return
    this.#used = this.#used === undefined ? spent : addUsage(this.#used, spent)
    this.#flushText()
  }

  #assistantMessage(parts: readonly MessagePart[]): Message {
    return { ...message('assistant', parts), ...defined({ model: this.#model }) }
  }

  #flushText(): void {
    const text = this.#text
    if (text === undefined) return
    this.#text = undefined
    this.#add(text)
  }

  /** A turn may end with a tool, without a text that carries its usage. */
  #addRemainingUsage(): void {
    if (this.#used !== undefined) this.#add(this.#assistantMessage([]))
  }

  #add(item: HistoryItem): void {
    if (item.type !== 'message' || item.role !== 'assistant') {
      this.#items.push(item)
      return
    }
    this.#items.push({ ...item, ...defined({ usage: this.#used, context: this.#context }) })
    this.#used = undefined
    this.#context = undefined
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flushText()
    // Waits until the conversation has an id.
    if (this.#conversation === undefined) return
    const items = this.#items
    this.#items = []
    this.#options.store.append(this.#conversation, items)
  }
}

function message(role: 'user' | 'assistant', parts: readonly MessagePart[]): Message {
  return { type: 'message', id: mintId(undefined), at: now(), role, parts }
}

function now(): string {
  return new Date().toISOString()
}
