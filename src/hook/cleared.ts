// A conversation that is cleared continues under a new id in the same process. The old one leaves its session for the
// new one, so that it need not be guessed from the branch.
import { join } from 'node:path'
import { createFolder, removeFile, replaceUnsynced } from '../journal/files.ts'
import { isId } from '../journal/ids.ts'
import { readOrUndefined } from '../journal/look.ts'
import type { HookContext } from './context.ts'

export function leaveCleared(context: HookContext, session: string): void {
  createFolder(context.stateFolder)
  replaceUnsynced(clearedPath(context), session)
}

/** The session that the cleared conversation left. */
export function clearedSession(context: HookContext): string | undefined {
  const session = readOrUndefined(clearedPath(context))?.toString('utf8')
  return session !== undefined && isId(session) ? session : undefined
}

/** It has been taken over: the next one that is cleared leaves its own. */
export function forgetCleared(context: HookContext): void {
  removeFile(clearedPath(context))
}

// Old clients do not say who they are, but the command that started this hook does.
function clearedPath({ stateFolder, env, protocol }: HookContext): string {
  const pid = [env[protocol.variables.process], env.STINT_HARNESS_PID].find(
    (value) => value !== undefined && /^\d+$/.test(value),
  )
  return join(stateFolder, `cleared-${pid ?? process.ppid}`)
}
