import { existsSync } from 'node:fs'
import { removeFile, takeLock } from '../journal/files.ts'

const STALE_MS = 10_000
const TICK_MS = 4

/** Does something to a stored conversation while nobody else does. Undefined, at once, when somebody does. */
export function whileLocked<T>(path: string, work: () => T): T | undefined {
  const lock = `${path}.lock`
  if (!takeLock(lock, STALE_MS)) return undefined
  try {
    return work()
  } finally {
    removeFile(lock)
  }
}

/** Waits for whoever is at it, without holding up anybody else. A harness that ends kills its hooks, also those that have the lock. */
export async function untilUnlocked(path: string): Promise<void> {
  const until = Date.now() + STALE_MS
  while (existsSync(`${path}.lock`) && Date.now() <= until) await new Promise((wake) => setTimeout(wake, TICK_MS * 5))
}

/** The same, after whoever is at it. One who was killed at it is waited for until the lock is stale. */
export function onceUnlocked<T extends object>(path: string, work: () => T): T {
  for (;;) {
    const done = whileLocked(path, work)
    if (done !== undefined) return done
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TICK_MS)
  }
}
