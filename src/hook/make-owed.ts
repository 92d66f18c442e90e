import { execFileSync } from 'node:child_process'
import { removeFile, takeLock } from '../journal/files.ts'
import { type Owed, owedPath, readOwed, writeOwed } from './owed.ts'
import type { Scene } from './scene.ts'

const MOST_FAILURES = 3
const MAKING_MS = 20_000
const STALE_LOCK_MS = 60_000

/** Makes what is owed, by the command, which has all that a hook must not load. One process at a time, and not for ever. */
export function makeOwed({ notes, session, place, env }: Scene, stint: string): void {
  if (session === undefined) return
  const path = owedPath(notes, session.id)
  if (readOwed(path) === undefined || !takeLock(`${path}.lock`, STALE_LOCK_MS)) return
  try {
    const owed = readOwed(path)
    if (owed === undefined) return
    const cwd = place.repository?.worktree ?? place.root
    try {
      runCommand([stint, ...argumentsFor(session.id, owed)], cwd, {
        ...env,
        STINT_CONVERSATION: owed.conversation,
      })
    } catch (error) {
      const failures = owed.failures + 1
      if (failures < MOST_FAILURES) writeOwed(path, { ...owed, failures })
      else removeFile(path)
      throw error
    }
    // Unless more has been asked for meanwhile.
    if (readOwed(path)?.kind === owed.kind) removeFile(path)
  } finally {
    removeFile(`${path}.lock`)
  }
}

function argumentsFor(session: string, { kind, reason }: Owed): readonly string[] {
  return [
    'handoff',
    'create',
    session,
    '--reason',
    reason,
    ...(kind === 'draft' ? ['--draft'] : []),
  ]
}

function runCommand(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  execFileSync(process.execPath, args, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: MAKING_MS,
  })
}
