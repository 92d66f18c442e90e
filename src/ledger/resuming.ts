// What a conversation read before it changed anything, by what its harness said each request carried. Between the first
// conversation of a session and one that went on with it, that is what the record saved.
import type { ConversationStore } from '../history/store.ts'
import type { Message } from '../history/items.ts'
import type { Joined } from './journal-amounts.ts'
import { tokensGiven } from './amounts.ts'

/** Absent where it has changed nothing yet, or cannot be told. */
export interface FirstEdit {
  /** Tokens that the context grew by, from the first request to the one that first changed a file. */
  readonly read?: number
}

const EDITING =
  /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write|patch|replace|write_file|edit_file)$/

export function firstEdit(store: ConversationStore, conversation: string): FirstEdit {
  let first: number | undefined
  for (const item of store.read(conversation, { isBrief: true })) {
    // What was read before is gone from the context, and with it the measure.
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

function carriedBy({ context, usage }: Message): number | undefined {
  if (context !== undefined) return context.tokens
  return usage === undefined ? undefined : usage.input + usage.cacheRead + usage.cacheWritten
}

/**
 * What each later conversation of a session read less than the first, less what it was given for that, and less what is counted
 * already as saved by how it was given: so one that went on counts once. It assumes that it would have read as much as the first.
 */
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
    // In a run the first is told something as well; what the later is told more is what it takes to go on.
    const more = Math.max(0, (setups[id] ?? 0) - (setups[first.id] ?? 0))
    return [{ at, tokens: cold - read - tokensGiven(given) - more - saved }]
  })
}
