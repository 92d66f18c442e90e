// The address of a project's running server. It holds the token, so only its owner may read it,
// outside any repository.
import { dirname, join } from 'node:path'
import { isAlive, processStartTime } from '../harness/process/spawn-guarded.ts'
import { createFile, createFolder, removeFile } from '../journal/write-files.ts'
import { modeOf, readOrUndefined } from '../journal/read-files.ts'
import { stateHome } from '../journal/state-home.ts'
import { asCount, asName, asObject, parseJson } from '../text/json-fields.ts'

export interface ServerRecord {
  readonly pid: number
  /** When the process began, as the system counts. */
  readonly startedAt: string
  readonly host: string
  readonly port: number
  readonly token: string
  /** What its one-time tokens are bound to. */
  readonly launch: string
}

export interface ServerStatus extends ServerRecord {
  readonly isAlive: boolean
}

function recordPath(key: string, env: NodeJS.ProcessEnv) {
  return join(stateHome(env), 'serve', `${key}.json`)
}

/** A killed server leaves its record behind. */
export function readServerRecord(key: string, env: NodeJS.ProcessEnv): ServerStatus | undefined {
  const path = recordPath(key, env)
  const bytes = readOrUndefined(path)
  // A token that others could read is void.
  if (bytes === undefined || (process.platform !== 'win32' && (modeOf(path) & 0o077) !== 0))
    return undefined
  const fields = asObject(parseJson(bytes.toString('utf8')))
  const [pid, port] = [asCount(fields?.['pid']), asCount(fields?.['port'])]
  const [host, token] = [asName(fields?.['host']), asName(fields?.['token'])]
  if (pid === undefined || port === undefined || host === undefined || token === undefined)
    return undefined
  const startedAt = typeof fields?.['startedAt'] === 'string' ? fields['startedAt'] : ''
  const launch = asName(fields?.['launch']) ?? ''
  return {
    pid,
    startedAt,
    host,
    port,
    token,
    launch,
    isAlive: isAlive({ pid, startedAt, mark: '' }),
  }
}

/** False when another live process was first. */
export function writeServerRecord(
  key: string,
  env: NodeJS.ProcessEnv,
  note: Omit<ServerRecord, 'pid' | 'startedAt'>,
): boolean {
  const path = recordPath(key, env)
  const content = JSON.stringify({
    pid: process.pid,
    startedAt: processStartTime(process.pid),
    ...note,
  })
  createFolder(dirname(path))
  if (createFile(path, content, { mode: 0o600 })) return true
  if (readServerRecord(key, env)?.isAlive === true) return false
  removeFile(path)
  return createFile(path, content, { mode: 0o600 })
}

export function removeServerRecord(key: string, env: NodeJS.ProcessEnv): void {
  if (readServerRecord(key, env)?.pid === process.pid) removeFile(recordPath(key, env))
}

function openerPath(key: string, env: NodeJS.ProcessEnv) {
  return join(stateHome(env), 'serve', `${key}.html`)
}

/** The page that leads the browser to the server with a one-time token, which no command line may hold. */
export function writeOpener(key: string, env: NodeJS.ProcessEnv, page: string): string {
  const path = openerPath(key, env)
  removeFile(path)
  createFile(path, page, { mode: 0o600, isDurable: false })
  return path
}

export function removeOpener(key: string, env: NodeJS.ProcessEnv): void {
  removeFile(openerPath(key, env))
}
