// A conversation that is cleared goes on under a new id in the same process. The old one leaves word of its
// session for the new one, so that it does not have to be guessed from the branch.
import { join } from 'node:path'
import { createFolder, removeFile, replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined } from '../journal/look.ts'
import { isId } from '../journal/ids.ts'

export function handOver(notes: string, env: NodeJS.ProcessEnv, session: string): void {
  createFolder(notes)
  replaceUnsynced(pathFor(notes, env), session)
}

/** The session that was handed over. */
export function seeHandedOver(notes: string, env: NodeJS.ProcessEnv): string | undefined {
  const session = readOrUndefined(pathFor(notes, env))?.toString('utf8')
  return session !== undefined && isId(session) ? session : undefined
}

/** It has been taken over: the next one that is cleared leaves its own. */
export function dropHandedOver(notes: string, env: NodeJS.ProcessEnv): void {
  removeFile(pathFor(notes, env))
}

// Old clients do not say who they are, but the command that started this hook does.
function pathFor(notes: string, env: NodeJS.ProcessEnv): string {
  const pid = [env.CLAUDE_PID, env.STINT_HARNESS_PID].find(
    (value) => value !== undefined && /^\d+$/.test(value),
  )
  return join(notes, `cleared-${pid ?? process.ppid}`)
}
