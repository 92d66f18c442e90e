import type { Message, Part } from '../items.ts'

/** An item for a message of an array, which has neither id nor time. */
export function messageItem(index: number, role: Message['role'], parts: readonly Part[]): Message {
  return { type: 'message', id: `message-${index + 1}`, role, parts }
}
