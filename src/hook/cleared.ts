// A conversation that is cleared goes on under a new id in the same process. The old one leaves word of its
// session for the new one, so that it does not have to be guessed from the branch.
import { join } from 'node:path'
import { createFolder, readOrUndefined, removeFile, replaceUnsynced } from '../journal/files.ts'
import { isId } from '../journal/ids.ts'

export function handOver(notes: string, env: NodeJS.ProcessEnv, session: string): void {
  createFolder(notes)
  replaceUnsynced(pathFor(notes, env), session)
}

export function takeHandedOver(notes: string, env: NodeJS.ProcessEnv): string | undefined {
  const path = pathFor(notes, env)
  const session = readOrUndefined(path)?.toString('utf8')
  if (session === undefined) return undefined
  removeFile(path)
  return isId(session) ? session : undefined
}

// Old clients do not say who they are, but the command that started this hook does.
function pathFor(notes: string, env: NodeJS.ProcessEnv): string {
  const pid = [env.CLAUDE_PID, env.STINT_HARNESS_PID].find((value) => value !== undefined && /^\d+$/.test(value))
  return join(notes, `cleared-${pid ?? process.ppid}`)
}
