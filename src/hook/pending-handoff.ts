// A handoff to be made in the background. Stored for the session, not for the conversation: if that
// ends first, the next conversation makes it.
import { join } from 'node:path'
import { createFolder, removeFile, replaceUnsynced, takeLock } from '../journal/write-files.ts'
import { readJson } from '../journal/read-files.ts'
import { workingFolder } from '../project/store/project-paths.ts'
import type { SessionContext } from './session-context.ts'

const MAX_FAILURES = 3
const HANDOFF_TIMEOUT_MS = 20_000
const STALE_LOCK_MS = 60_000

interface PendingHandoff {
  /** A draft is fast and saves no code. */
  readonly kind: 'draft' | 'handoff'
  readonly reason: string
  readonly conversation: string
  readonly failures: number
}

/** A draft does not replace a requested full handoff. */
export function requestHandoff(
  { stateFolder, session, event }: SessionContext,
  kind: PendingHandoff['kind'],
  reason: string,
): void {
  if (session === undefined) return
  const path = pendingPath(stateFolder, session.id)
  if (kind === 'draft' && readPending(path)?.kind === 'handoff') return
  createFolder(stateFolder)
  writePending(path, { kind, reason, conversation: event.conversation, failures: 0 })
}

/**
 * Runs the command line program, because hooks must not load what it needs. One process at a time,
 * with a timeout.
 */
export function makePendingHandoff(context: SessionContext, stint: string): void {
  const { stateFolder, session } = context
  if (session === undefined) return
  const path = pendingPath(stateFolder, session.id)
  if (readPending(path) === undefined || !takeLock(`${path}.lock`, STALE_LOCK_MS)) return
  try {
    const pending = readPending(path)
    if (pending === undefined) return
    try {
      runHandoffCommand(context, session.id, pending, stint)
    } catch (error) {
      const failures = pending.failures + 1
      if (failures < MAX_FAILURES) writePending(path, { ...pending, failures })
      else removeFile(path)
      throw error
    }
    // Unless a full handoff was requested meanwhile.
    if (readPending(path)?.kind === pending.kind) removeFile(path)
  } finally {
    removeFile(`${path}.lock`)
  }
}

function runHandoffCommand(
  { paths, env }: SessionContext,
  session: string,
  { kind, reason, conversation }: PendingHandoff,
  stint: string,
): void {
  const draft = kind === 'draft' ? ['--draft'] : []
  const args = [stint, 'handoff', 'create', session, '--reason', reason, ...draft]
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  execFileSync(process.execPath, args, {
    cwd: workingFolder(paths),
    env: { ...env, STINT_CONVERSATION: conversation },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: HANDOFF_TIMEOUT_MS,
  })
}

function readPending(path: string): PendingHandoff | undefined {
  // If it was truncated by a power cut, the next budget threshold requests it again.
  return readJson(path) as PendingHandoff | undefined
}

function writePending(path: string, pending: PendingHandoff): void {
  replaceUnsynced(path, JSON.stringify(pending))
}

function pendingPath(stateFolder: string, session: string): string {
  return join(stateFolder, `owed-${session}`)
}
