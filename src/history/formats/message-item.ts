import type { Message, Part } from '../items.ts'

export function messageItem(index: number, role: Message['role'], parts: readonly Part[]): Message {
  return { type: 'message', id: `message-${index + 1}`, role, parts }
}

/** Providers allow fewer characters in a name than other harnesses. */
export function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}
