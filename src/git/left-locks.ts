// A killed git leaves its locks behind, which stop every later git.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { removeFile } from '../journal/files.ts'
import type { Repository } from './repository.ts'

/** git holds a lock only while it writes. */
const PATIENCE_MS = 2000
const LOOK_AGAIN_MS = 50

/** Never in the main worktree, where a person may be at work at any time. */
export function removeLeftLocks({ gitDir, commonDir, isLinked }: Repository, branch: string): void {
  if (!isLinked) return
  const locks = [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'refs', 'heads', `${branch}.lock`),
  ]
  const isAnyLeft = () => locks.some((lock) => existsSync(lock))
  for (const until = Date.now() + PATIENCE_MS; isAnyLeft() && Date.now() < until;)
    pause(LOOK_AGAIN_MS)
  for (const lock of locks) removeFile(lock)
}

function pause(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
