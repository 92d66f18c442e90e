// The one memory of a conversation with a bare model: every request is built from what stands here, so that whoever goes on with it
// after a crash asks what the process before would have asked.
import type { Began, HistoryItem, Message, Part } from '../../history/items.ts'
import type { ConversationStore } from '../../history/store.ts'
import { mintId } from '../../journal/ids.ts'

export type ToolUse = Extract<Part, { readonly type: 'tool use' }>
type Said = Omit<Message, 'type' | 'id' | 'parent' | 'at'>

const LOST =
  'There is no result: the program ended while this ran or before it began. It may have been done, in part or not at all. Look before you do it again.'

export class ApiHistory {
  readonly #store: ConversationStore
  readonly #conversation: string
  #last: string | undefined

  constructor(store: ConversationStore, conversation: string) {
    this.#store = store
    this.#conversation = conversation
  }

  begin(began: Omit<Began, 'type' | 'conversation'>, opening: readonly Message[]): void {
    this.#add([{ type: 'began', conversation: this.#conversation, ...began }, ...opening])
  }

  /** What the model is to see, as it is stored. */
  messages(): readonly Message[] {
    const messages = messagesForModel([...this.#store.read(this.#conversation)])
    this.#last = messages.at(-1)?.id ?? this.#last
    return messages
  }

  say(...said: readonly Said[]): void {
    let last = this.#last
    const messages = said.map((one): Message => {
      const id = mintId(last)
      const message = {
        type: 'message',
        id,
        at: new Date().toISOString(),
        ...one,
        ...(last === undefined ? {} : { parent: last }),
      } as const
      last = id
      return message
    })
    this.#add(messages)
  }

  /** Answers the uses of tools that nobody will answer any more. */
  settle(messages: readonly Message[]): void {
    const open = unanswered(messages)
    if (open.length > 0) this.say({ role: 'user', parts: open.map(({ id }) => toolResult(id, LOST, true)) })
  }

  #add(items: readonly HistoryItem[]): void {
    this.#store.append(this.#conversation, items)
    this.#last = items.findLast((item) => item.type === 'message')?.id ?? this.#last
  }
}

export function toolResult(use: string, text: string, isError: boolean): Part {
  return { type: 'tool result', use, parts: [{ type: 'text', text }], isError }
}

export function toolUses(parts: readonly Part[]): readonly ToolUse[] {
  return parts.filter((part): part is ToolUse => part.type === 'tool use')
}

function unanswered(messages: readonly Message[]): readonly ToolUse[] {
  const answered = new Set(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool result' ? [part.use] : []))),
  )
  return messages.flatMap(({ parts }) => toolUses(parts)).filter(({ id }) => !answered.has(id))
}

/** Without what delegated agents said, what was only shown to a person, and what a compaction took away. */
function messagesForModel(items: readonly HistoryItem[]): readonly Message[] {
  const from = items.findLastIndex((item) => item.type === 'compaction')
  const compaction = items[from]
  const kept = new Set(compaction?.type === 'compaction' ? compaction.kept : [])
  return items.flatMap((item, index) => {
    if (item.type !== 'message' || item.agent !== undefined || item.isFailure === true) return []
    return index > from || item.role === 'system' || kept.has(item.id) ? [item] : []
  })
}
