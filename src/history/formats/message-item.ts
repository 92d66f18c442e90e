import type { Message, Part } from '../items.ts'

/** An item for a message of an array, which has neither id nor time. */
export function messageItem(index: number, role: Message['role'], parts: readonly Part[]): Message {
  return { type: 'message', id: `message-${index + 1}`, role, parts }
}

/** A name of a tool or of a use of one, in the letters that providers take. Other harnesses have more of them. */
export function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}
