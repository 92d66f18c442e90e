// The address of a project's running server. It holds the token, so only its owner may read it,
// outside any repository.
import { dirname, join } from 'node:path'
import { isAlive, startOf } from '../harness/process/spawn-guarded.ts'
import { createFile, createFolder, removeFile } from '../journal/files.ts'
import { modeOf, readOrUndefined } from '../journal/look.ts'
import { stateHome } from '../journal/state-home.ts'
import { countOf, nameOf, objectOf, parseJson } from '../text/json-fields.ts'

export interface RunningNote {
  readonly pid: number
  /** When the process began, as the system counts. */
  readonly startedAt: string
  readonly host: string
  readonly port: number
  readonly token: string
}

export interface FoundNote extends RunningNote {
  readonly isAlive: boolean
}

function notePath(key: string, env: NodeJS.ProcessEnv) {
  return join(stateHome(env), 'serve', `${key}.json`)
}

/** A killed server leaves its note. */
export function readNote(key: string, env: NodeJS.ProcessEnv): FoundNote | undefined {
  const path = notePath(key, env)
  const bytes = readOrUndefined(path)
  // A token that others could read is void.
  if (bytes === undefined || (process.platform !== 'win32' && (modeOf(path) & 0o077) !== 0))
    return undefined
  const fields = objectOf(parseJson(bytes.toString('utf8')))
  const [pid, port] = [countOf(fields?.['pid']), countOf(fields?.['port'])]
  const [host, token] = [nameOf(fields?.['host']), nameOf(fields?.['token'])]
  if (pid === undefined || port === undefined || host === undefined || token === undefined)
    return undefined
  const startedAt = typeof fields?.['startedAt'] === 'string' ? fields['startedAt'] : ''
  return { pid, startedAt, host, port, token, isAlive: isAlive({ pid, startedAt, mark: '' }) }
}

/** False when another live process was first. */
export function writeNote(
  key: string,
  env: NodeJS.ProcessEnv,
  note: Omit<RunningNote, 'pid' | 'startedAt'>,
): boolean {
  const path = notePath(key, env)
  const content = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid), ...note })
  createFolder(dirname(path))
  if (createFile(path, content, { mode: 0o600 })) return true
  if (readNote(key, env)?.isAlive === true) return false
  removeFile(path)
  return createFile(path, content, { mode: 0o600 })
}

export function removeNote(key: string, env: NodeJS.ProcessEnv): void {
  if (readNote(key, env)?.pid === process.pid) removeFile(notePath(key, env))
}
