import { createFolder, removeFile, replaceUnsynced } from '../journal/write-files.ts'
import { isId } from '../journal/ids.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import { defined } from '../text/defined.ts'
import type { HookContext } from './hook-context.ts'
import type { SessionContext } from './session-context.ts'
import { join as joinPath } from 'node:path'

export function joinSessionIfNew(context: SessionContext, source: string): void {
  const { conversation } = context.event
  if (context.session === undefined) return
  context.drainPending()
  const isKnown = context.state.conversations.items.some((known) => known.text === conversation)
  if (!isKnown && !context.drafts.some(({ kind }) => kind === 'conversation.joined'))
    recordJoined(context, source)
}

/** Also for a known conversation that starts again or is resumed. */
export function recordJoined(context: HookContext, source: string): void {
  const { conversation, harness, transcript } = context.event
  const data = { conversation, harness, source, ...defined({ transcript }) }
  context.record('conversation.joined', data)
}

/**
 * A cleared conversation continues under a new id in the same process. The old one leaves its
 * session id in a file, so that it need not be guessed from the branch.
 */
export function saveClearedSession(context: HookContext, session: string): void {
  createFolder(context.stateFolder)
  replaceUnsynced(clearedPath(context), session)
}

export function readClearedSession(context: HookContext): string | undefined {
  const session = readOrUndefined(clearedPath(context))?.toString('utf8')
  return session !== undefined && isId(session) ? session : undefined
}

export function removeClearedSession(context: HookContext): void {
  removeFile(clearedPath(context))
}

// Old clients do not set their pid; the registered command does.
function clearedPath({ stateFolder, env, protocol }: HookContext): string {
  const pid = [env[protocol.variables.process], env.STINT_HARNESS_PID].find(
    (value) => value !== undefined && /^\d+$/.test(value),
  )
  return joinPath(stateFolder, `cleared-${pid ?? process.ppid}`)
}
