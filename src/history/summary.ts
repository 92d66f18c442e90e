import type { Usage } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import type { HistoryItem, Message } from './items.ts'
import { defined } from '../text/defined.ts'

export interface ConversationSummary {
  readonly harness?: string
  readonly model?: string
  readonly cwd?: string
  readonly forkOf?: string
  readonly startedAt?: string
  readonly updatedAt?: string
  readonly endedBecause?: string
  readonly messages: number
  readonly compactions: number
  readonly title: string
  readonly usage: Readonly<Record<string, Usage>>
}

const LONGEST_TITLE = 100
const UNKNOWN_MODEL = 'unknown'

export function summarise(items: Iterable<HistoryItem>): ConversationSummary {
  const summing = new SummaryBuilder()
  for (const item of items) summing.add(item)
  return summing.value
}

export class SummaryBuilder {
  #said: Omit<ConversationSummary, 'messages' | 'compactions' | 'title' | 'usage'> = {}
  #title: string | undefined
  #typed = 0
  #compactions = 0
  readonly #answers = new Set<string>()
  /** A request spans several messages; the last one has its full usage. */
  readonly #used = new Map<string, { readonly model: string; readonly usage: Usage }>()

  add(item: HistoryItem): void {
    switch (item.type) {
      case 'began': {
        const { harness, at, cwd, model, forkOf } = item
        const known = defined({ cwd, model, forkOf })
        this.#said = { ...known, ...this.#said, harness, startedAt: this.#said.startedAt ?? at }
        break
      }
      case 'message':
        this.#addMessage(item)
        break
      case 'compaction':
        this.#compactions += 1
        this.#moveTo(item.at)
        break
      case 'taken back':
        this.#moveTo(item.at)
        break
      case 'ended':
        this.#moveTo(item.at)
        this.#said = { ...this.#said, endedBecause: item.reason }
    }
  }

  #addMessage(message: Message) {
    const { role, model, usage, agent } = message
    this.#goOn(message.at)
    this.#moveTo(message.at)
    const request = message.request ?? message.id
    if (usage !== undefined)
      this.#used.set(request, { model: model ?? this.#said.model ?? UNKNOWN_MODEL, usage })
    if (agent !== undefined || message.isSummary === true || message.isFailure === true) return
    if (role === 'assistant') {
      // A message that only reports usage is no reply.
      if (message.parts.length > 0) this.#answers.add(request)
      if (model !== undefined) this.#said = { ...this.#said, model }
    } else if (role === 'user' && message.isMeta !== true) this.#addTyped(message)
  }

  #addTyped({ parts }: Message) {
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    if (texts.length === 0 || parts.some(({ type }) => type === 'tool result')) return
    this.#typed += 1
    if (this.#title !== undefined) return
    const line = oneLine(
      texts
        .map((text) => splitTypedText(text).typed)
        .join(' ')
        .slice(0, 2000),
    )
    if (line !== '') this.#title = shorten(line, LONGEST_TITLE)
  }

  /** A late copy stores messages after the end that were sent before it. */
  #goOn(at: string | undefined) {
    if (this.#said.endedBecause === undefined || (at ?? '9') <= (this.#said.updatedAt ?? '')) return
    const { endedBecause: _over, ...said } = this.#said
    this.#said = said
  }

  #moveTo(at: string | undefined) {
    if (at === undefined || at < (this.#said.updatedAt ?? '')) return
    this.#said = { ...this.#said, startedAt: this.#said.startedAt ?? at, updatedAt: at }
  }

  get value(): ConversationSummary {
    const usage: Record<string, Usage> = {}
    for (const { model, usage: used } of this.#used.values()) usage[model] = sum(usage[model], used)
    const messages = this.#typed + this.#answers.size
    return {
      ...this.#said,
      messages,
      compactions: this.#compactions,
      title: this.#title ?? '',
      usage,
    }
  }
}

function sum(before: Usage | undefined, { input, cacheWritten, cacheRead, output }: Usage) {
  return {
    input: (before?.input ?? 0) + input,
    cacheWritten: (before?.cacheWritten ?? 0) + cacheWritten,
    cacheRead: (before?.cacheRead ?? 0) + cacheRead,
    output: (before?.output ?? 0) + output,
  }
}

// Stint and harnesses add text to user messages, recognised by its tags; other tags may be the
// user's own.

const BEFORE = /^\s*<(stint-[a-z]+|system-reminder|ide_[a-z_]+)(?: [^<>\n]*)?>[\s\S]*?<\/\1>\s*/
const ALONE =
  /^\s*<(?:stint-[a-z]+|system-reminder|ide_[a-z_]+|command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr)|(?:task|bash|agent|subagent)-notification|subagent_notification|teammate-message|user-prompt-submit-hook|environment_context|user_instructions|permissions instructions|collaboration_mode|turn_aborted|user_shell_command|session_context|hook_context|state_snapshot)[\s>]/

export interface TypedText {
  readonly added: string
  readonly typed: string
}

export function splitTypedText(text: string): TypedText {
  let from = 0
  for (let found = BEFORE.exec(text); found !== null; found = BEFORE.exec(text.slice(from)))
    from += found[0].length
  const rest = text.slice(from)
  return ALONE.test(rest) ? { added: text, typed: '' } : { added: text.slice(0, from), typed: rest }
}
