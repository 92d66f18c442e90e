import type { TakenBack } from '../../history/items.ts'
import { TakingBack } from '../../history/taken-back.ts'
import type { ConversationStore } from '../../history/store.ts'
import { messageOf } from '../../harness/opencode/history/session-messages.ts'
import { defined } from '../../text/defined.ts'

/**
 * What has to be stored so that a stored conversation holds what stands of it and nothing else; undefined when it does already.
 * What others than the importer stored is left alone: it has names of its own.
 */
export function takenBackSince(
  store: ConversationStore,
  conversation: string,
  standing: ReadonlySet<string>,
  at: string,
): TakenBack | undefined {
  const taking = new TakingBack()
  for (const item of store.read(conversation, { isBrief: true })) taking.add(item)
  const gone = taking.nodes.findIndex(({ id }) => {
    const message = messageOf(id)
    return message !== undefined && !standing.has(message)
  })
  const end = gone === -1 ? undefined : gone
  if (end === taking.end) return undefined
  const from = end === undefined ? undefined : taking.nodes[end]!.id
  return {
    type: 'taken back',
    id: `taken-back-${from ?? 'nothing'}-${at}`,
    at,
    ...defined({ from }),
  }
}
