// The saving is the difference between what the first conversation of a session and a resumed one read before they changed anything.
import type { ConversationStore } from '../history/store.ts'
import type { Message } from '../history/items.ts'
import type { Joined } from './journal-amounts.ts'
import { tokensGiven } from './amounts.ts'

export interface FirstEdit {
  /** Growth of the context from the first request to the first change. */
  readonly read?: number
}

const EDITING =
  /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write|patch|replace|write_file|edit_file)$/

export function firstEdit(store: ConversationStore, conversation: string): FirstEdit {
  let first: number | undefined
  for (const item of store.read(conversation, { isBrief: true })) {
    // A compaction removes what was read, and with it the measure.
    if (item.type === 'compaction') return {}
    if (item.type !== 'message' || item.agent !== undefined || item.isFailure === true) continue
    const carried = carriedBy(item)
    if (carried === undefined) continue
    first ??= carried
    if (item.parts.some((part) => part.type === 'tool use' && EDITING.test(part.name)))
      return { read: Math.max(0, carried - first) }
  }
  return {}
}

function carriedBy({ context, usage }: Message) {
  if (context !== undefined) return context.tokens
  return usage === undefined ? undefined : usage.input + usage.cacheRead + usage.cacheWritten
}

/** Less what was injected for it and what other savings count. Assumes it would have read as much as the first. */
export function resumingOf(
  conversations: readonly Joined[],
  edit: (conversation: string) => FirstEdit,
  setups: Readonly<Record<string, number>>,
): readonly { readonly at: string; readonly tokens: number }[] {
  const [first, ...later] = conversations
  const cold = first === undefined || later.length === 0 ? undefined : edit(first.id).read
  if (first === undefined || cold === undefined) return []
  return later.flatMap(({ id, at, given, saved }) => {
    const { read } = edit(id)
    if (read === undefined) return []
    // In a run the first is given something too; only the difference is the cost of resuming.
    const more = Math.max(0, (setups[id] ?? 0) - (setups[first.id] ?? 0))
    return [{ at, tokens: cold - read - tokensGiven(given) - more - saved }]
  })
}
