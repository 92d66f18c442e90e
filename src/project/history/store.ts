import { type ConversationStore, conversationStore } from '../../history/store.ts'
import type { Workspace } from '../store/workspace.ts'

export function storeOf({ place, config }: Workspace): ConversationStore {
  return conversationStore(place.sessions, {
    extra: config.redact.patterns,
    allow: config.redact.allow,
  })
}
