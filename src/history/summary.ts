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

const MAX_TITLE_LENGTH = 100
const UNKNOWN_MODEL = 'unknown'

export function summarise(items: Iterable<HistoryItem>): ConversationSummary {
  const builder = new SummaryBuilder()
  for (const item of items) builder.add(item)
  return builder.value
}

export class SummaryBuilder {
  #known: Omit<ConversationSummary, 'messages' | 'compactions' | 'title' | 'usage'> = {}
  #title: string | undefined
  #prompts = 0
  #compactions = 0
  readonly #replies = new Set<string>()
  /** A request spans several messages; the last one has its full usage. */
  readonly #used = new Map<string, { readonly model: string; readonly usage: Usage }>()

  add(item: HistoryItem): void {
    switch (item.type) {
      case 'began': {
        const { harness, at, cwd, model, forkOf } = item
        const known = defined({ cwd, model, forkOf })
        this.#known = { ...known, ...this.#known, harness, startedAt: this.#known.startedAt ?? at }
        break
      }
      case 'message':
        this.#addMessage(item)
        break
      case 'compaction':
        this.#compactions += 1
        this.#advanceTo(item.at)
        break
      case 'taken back':
        this.#advanceTo(item.at)
        break
      case 'ended':
        this.#advanceTo(item.at)
        this.#known = { ...this.#known, endedBecause: item.reason }
    }
  }

  #addMessage(message: Message) {
    const { role, model, usage, agent } = message
    this.#reopenIfLater(message.at)
    this.#advanceTo(message.at)
    const request = message.request ?? message.id
    if (usage !== undefined)
      this.#used.set(request, { model: model ?? this.#known.model ?? UNKNOWN_MODEL, usage })
    if (agent !== undefined || message.isSummary === true || message.isFailure === true) return
    if (role === 'assistant') {
      // A message that only reports usage is no reply.
      if (message.parts.length > 0) this.#replies.add(request)
      if (model !== undefined) this.#known = { ...this.#known, model }
    } else if (role === 'user' && message.isMeta !== true) this.#addPrompt(message)
  }

  #addPrompt({ parts }: Message) {
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    if (texts.length === 0 || parts.some(({ type }) => type === 'tool result')) return
    this.#prompts += 1
    if (this.#title !== undefined) return
    const line = oneLine(
      texts
        .map((text) => splitTypedText(text).typed)
        .join(' ')
        .slice(0, 2000),
    )
    if (line !== '') this.#title = shorten(line, MAX_TITLE_LENGTH)
  }

  /** A late copy stores messages after the end that were sent before it. */
  #reopenIfLater(at: string | undefined) {
    if (this.#known.endedBecause === undefined || (at ?? '9') <= (this.#known.updatedAt ?? ''))
      return
    const { endedBecause: _over, ...known } = this.#known
    this.#known = known
  }

  #advanceTo(at: string | undefined) {
    if (at === undefined || at < (this.#known.updatedAt ?? '')) return
    this.#known = { ...this.#known, startedAt: this.#known.startedAt ?? at, updatedAt: at }
  }

  get value(): ConversationSummary {
    const usage: Record<string, Usage> = {}
    for (const { model, usage: used } of this.#used.values()) usage[model] = sum(usage[model], used)
    const messages = this.#prompts + this.#replies.size
    return {
      ...this.#known,
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

const ADDED_BEFORE =
  /^\s*<(stint-[a-z]+|system-reminder|ide_[a-z_]+)(?: [^<>\n]*)?>[\s\S]*?<\/\1>\s*/
const ADDED_ALONE =
  /^\s*<(?:stint-[a-z]+|system-reminder|ide_[a-z_]+|command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr)|(?:task|bash|agent|subagent)-notification|subagent_notification|teammate-message|user-prompt-submit-hook|environment_context|user_instructions|permissions instructions|collaboration_mode|turn_aborted|user_shell_command|session_context|hook_context|state_snapshot)[\s>]/

export function splitTypedText(text: string): { readonly added: string; readonly typed: string } {
  let from = 0
  for (
    let found = ADDED_BEFORE.exec(text);
    found !== null;
    found = ADDED_BEFORE.exec(text.slice(from))
  )
    from += found[0].length
  const rest = text.slice(from)
  return ADDED_ALONE.test(rest)
    ? { added: text, typed: '' }
    : { added: text.slice(0, from), typed: rest }
}
