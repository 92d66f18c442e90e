import { existsSync } from 'node:fs'
import { errnoOf } from '../journal/errors.ts'
import { appendLines } from '../journal/files.ts'
import type { Ended } from './items.ts'
import { whileLocked } from './lock.ts'
import { conversationPath } from './places.ts'

/** Gives up at once when the file is locked or unwritable: the caller is about to end, and the journal has the reason too. */
export function endConversation(
  sessions: string,
  conversation: string,
  ended: Omit<Ended, 'type'>,
): void {
  const path = conversationPath(sessions, conversation)
  if (!existsSync(path)) return
  const line = Buffer.from(`${JSON.stringify({ type: 'ended', ...ended })}\n`)
  try {
    whileLocked(path, () => appendLines(path, line))
  } catch (error) {
    // Full or read-only disk.
    if (errnoOf(error) === undefined) throw error
  }
}
