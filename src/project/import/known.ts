import type { ConversationStore } from '../../history/store.ts'
import { nameOf } from '../../text/json-fields.ts'
import type { ImportTarget } from './target.ts'

/** The names of all that is stored of a conversation. */
export function knownIn(store: ConversationStore, conversation: string): Set<string> {
  const known = new Set<string>()
  if (!store.has(conversation)) return known
  for (const item of store.read(conversation, { isBrief: true }))
    if ('id' in item) known.add(item.id)
  return known
}

/**
 * Of a conversation that Stint itself has stored while it was held, under names of its own: the time until which all of it is
 * there. Found once, before anything of it is imported. Undefined for all others.
 */
export function storedUntil(
  { store, cursors }: ImportTarget,
  conversation: string,
  isDryRun: boolean,
): string | undefined {
  const name = `conversation ${conversation}`
  const found = cursors.read(name)
  const isStored = store.has(conversation)
  // What was found is over when the conversation was let go of since.
  if (found !== undefined && isStored) return nameOf(found['until'])
  let until: string | undefined
  if (isStored) {
    for (const { at } of store.read(conversation, { isBrief: true }))
      if (at !== undefined && (until === undefined || at > until)) until = at
  }
  if (!isDryRun) cursors.write(name, { until })
  return until
}
