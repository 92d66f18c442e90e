import { existsSync } from 'node:fs'
import { errnoOf } from '../journal/errors.ts'
import { appendLines } from '../journal/files.ts'
import type { Ended } from './items.ts'
import { whileLocked } from './lock.ts'
import { conversationPath } from './places.ts'

/**
 * Says in a stored conversation why it ended, at no cost to speak of: whoever waits for it is about to end. Where nothing was
 * said, there is nothing to end; where it cannot be written, or somebody else is at
 * it, the journal alone says so.
 */
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
    // A disk that is full or may not be written to.
    if (errnoOf(error) === undefined) throw error
  }
}
