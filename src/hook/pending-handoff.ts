// A handoff that has to be made while nobody waits. Kept for the session and not for the conversation, which may be over
// before it is made: then the background work of the next conversation makes it.
import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { createFolder, removeFile, replaceUnsynced, takeLock } from '../journal/files.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import type { SessionContext } from './session-context.ts'

const MOST_FAILURES = 3
const MAKING_MS = 20_000
const STALE_LOCK_MS = 60_000

interface PendingHandoff {
  /** A draft is quick and has no code. */
  readonly kind: 'draft' | 'handoff'
  readonly reason: string
  readonly conversation: string
  readonly failures: number
}

/** A draft does not replace a whole handoff. */
export function requestHandoff(
  { stateFolder, session, event }: SessionContext,
  kind: PendingHandoff['kind'],
  reason: string,
): void {
  if (session === undefined) return
  const path = pathFor(stateFolder, session.id)
  if (kind === 'draft' && read(path)?.kind === 'handoff') return
  createFolder(stateFolder)
  write(path, { kind, reason, conversation: event.conversation, failures: 0 })
}

/** By the command `stint`, which has what a hook must not load. One process at a time, with a timeout. */
export function makePendingHandoff(context: SessionContext, stint: string): void {
  const { stateFolder, session } = context
  if (session === undefined) return
  const path = pathFor(stateFolder, session.id)
  if (read(path) === undefined || !takeLock(`${path}.lock`, STALE_LOCK_MS)) return
  try {
    const pending = read(path)
    if (pending === undefined) return
    try {
      make(context, session.id, pending, stint)
    } catch (error) {
      const failures = pending.failures + 1
      if (failures < MOST_FAILURES) write(path, { ...pending, failures })
      else removeFile(path)
      throw error
    }
    // Unless more has been asked for meanwhile.
    if (read(path)?.kind === pending.kind) removeFile(path)
  } finally {
    removeFile(`${path}.lock`)
  }
}

function make(
  { place, env }: SessionContext,
  session: string,
  { kind, reason, conversation }: PendingHandoff,
  stint: string,
): void {
  const draft = kind === 'draft' ? ['--draft'] : []
  const args = [stint, 'handoff', 'create', session, '--reason', reason, ...draft]
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  execFileSync(process.execPath, args, {
    cwd: place.repository?.worktree ?? place.root,
    env: { ...env, STINT_CONVERSATION: conversation },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: MAKING_MS,
  })
}

function read(path: string): PendingHandoff | undefined {
  try {
    const bytes = readOrUndefined(path)
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as PendingHandoff)
  } catch (error) {
    // Cut off by a power cut: the next line of the budget asks for it again.
    if (errnoOf(error) !== undefined) throw error
    return undefined
  }
}

function write(path: string, pending: PendingHandoff): void {
  replaceUnsynced(path, JSON.stringify(pending))
}

function pathFor(stateFolder: string, session: string): string {
  return join(stateFolder, `owed-${session}`)
}
