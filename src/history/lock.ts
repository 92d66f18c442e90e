import { existsSync } from 'node:fs'
import { errnoOf } from '../journal/errors.ts'
import { appendLines, removeFile, takeLock } from '../journal/write-files.ts'
import { isRunning, readOrUndefined } from '../journal/read-files.ts'
import type { EndedItem } from './items.ts'
import { conversationPath } from './paths.ts'

const STALE_MS = 10_000
const RETRY_MS = 4

/** Returns undefined at once when another process holds the lock. */
export function tryWithLock<T>(path: string, work: () => T): T | undefined {
  const lock = `${path}.lock`
  if (!takeLock(lock, STALE_MS, owner(), isOwnerGone)) return undefined
  try {
    return work()
  } finally {
    removeFile(lock)
  }
}

export async function waitForUnlock(path: string): Promise<void> {
  const until = Date.now() + STALE_MS
  const lock = `${path}.lock`
  while (
    existsSync(lock) &&
    !isOwnerGone(readOrUndefined(lock)?.toString('utf8') ?? '') &&
    Date.now() <= until
  )
    await new Promise((wake) => setTimeout(wake, RETRY_MS * 5))
}

/** Waits for a killed holder only until the lock is stale. */
export function withLock<T extends object>(path: string, work: () => T): T {
  for (;;) {
    const done = tryWithLock(path, work)
    if (done !== undefined) return done
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

/** Another machine may share the folder. */
function owner() {
  return `${process.pid} ${process.getBuiltinModule('node:os').hostname()}`
}

/** A harness that exits kills its hooks. */
function isOwnerGone(text: string) {
  const [, pid, host] = /^(\d{1,10}) (.+)$/.exec(text) ?? []
  return (
    pid !== undefined &&
    host === process.getBuiltinModule('node:os').hostname() &&
    !isRunning(Number(pid))
  )
}

/**
 * Gives up at once when the file is locked or unwritable: the caller is about to exit, and the
 * journal has the reason too.
 */
export function endConversation(
  sessions: string,
  conversation: string,
  ended: Omit<EndedItem, 'type'>,
): void {
  const path = conversationPath(sessions, conversation)
  if (!existsSync(path)) return
  const line = Buffer.from(`${JSON.stringify({ type: 'ended', ...ended })}\n`)
  try {
    tryWithLock(path, () => appendLines(path, line))
  } catch (error) {
    // Full or read-only disk.
    if (errnoOf(error) === undefined) throw error
  }
}
