import { join } from 'node:path'
import { StintError } from '../journal/errors.ts'

export function conversationsFolder(sessions: string): string {
  return join(sessions, 'conversations')
}

export function blobsFolder(sessions: string): string {
  return join(conversationsFolder(sessions), 'blobs')
}

export function conversationPath(sessions: string, conversation: string): string {
  if (!isConversationId(conversation)) throw notAConversation(conversation)
  return join(conversationsFolder(sessions), `${conversation}.jsonl`)
}

function notAConversation(text: string) {
  return new StintError(
    'NOT_A_CONVERSATION',
    `${JSON.stringify(text.slice(0, 100))} cannot be the id of a conversation`,
    'stint history --all lists those that are stored',
  )
}

/** The id becomes a file name and must not lead out of the folder. */
export function isConversationId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text)
}
