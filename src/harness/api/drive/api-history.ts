// The one memory of a conversation with a bare model: every request is built from what stands here, so that whoever goes on with it
// after a crash asks what the process before would have asked.
import type { Began, HistoryItem, Message, Part } from '../../../history/items.ts'
import { liveMessages } from '../../../history/live-messages.ts'
import type { ConversationStore } from '../../../history/store.ts'
import { mintId } from '../../../journal/ids.ts'
import { defined } from '../../../text/defined.ts'

export type ToolUse = Extract<Part, { readonly type: 'tool use' }>
/** What somebody said, without its place. */
export type Said = Omit<Message, 'type' | 'id' | 'parent' | 'at'>

/** What is stored, as it is sent. */
export interface StoredContext {
  /** The standing instructions. */
  readonly system: readonly string[]
  /** All that was said, without them. */
  readonly items: readonly HistoryItem[]
  /** What of it the model sees, with them. */
  readonly live: readonly Message[]
}

export class ApiHistory {
  readonly #store: ConversationStore
  readonly #conversation: string
  #last: string | undefined

  constructor(store: ConversationStore, conversation: string) {
    this.#store = store
    this.#conversation = conversation
  }

  /** Stores what everything else follows, unless it is there already: it is not in one that another harness began. */
  begin(began: Omit<Began, 'type' | 'conversation'>, opening: () => readonly Said[]): void {
    const isNew = !this.#store.has(this.#conversation)
    if (!isNew && this.read().system.length > 0) return
    const first = { type: 'began', conversation: this.#conversation, ...began } as const
    this.#add([...(isNew ? [first] : []), ...this.#messagesOf(opening())])
  }

  read(): StoredContext {
    const stored = [...this.#store.read(this.#conversation)]
    const live = liveMessages(stored)
    this.#last = stored.findLast((item) => item.type === 'message')?.id ?? this.#last
    return {
      system: live
        .filter(isStanding)
        .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))),
      items: stored.filter((item) => item.type !== 'message' || !isStanding(item)),
      live,
    }
  }

  say(said: Said): void {
    this.#add(this.#messagesOf([said]))
  }

  end(reason: string): void {
    this.#add([{ type: 'ended', at: new Date().toISOString(), reason }])
  }

  /** Each follows the one before it, and the first what is there. */
  #messagesOf(said: readonly Said[]): readonly Message[] {
    let last = this.#last
    return said.map((one): Message => {
      const parent = last
      last = mintId(parent)
      return {
        type: 'message',
        id: last,
        at: new Date().toISOString(),
        ...one,
        ...defined({ parent }),
      }
    })
  }

  #add(items: readonly HistoryItem[]): void {
    this.#store.append(this.#conversation, items)
    this.#last = items.findLast((item) => item.type === 'message')?.id ?? this.#last
  }
}

function isStanding({ role, isMeta }: Message): boolean {
  return role === 'system' && isMeta === true
}

export function toolResult(use: string, text: string, isError: boolean): Part {
  return { type: 'tool result', use, parts: [{ type: 'text', text }], isError }
}

export function toolUses(parts: readonly Part[]): readonly ToolUse[] {
  return parts.filter((part): part is ToolUse => part.type === 'tool use')
}
