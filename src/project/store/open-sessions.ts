import { join } from 'node:path'
import { listTouched } from '../../index/touch-marks.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import {
  createFile,
  createFolderUnsynced,
  moveFile,
  removeEmptyFolder,
  removeFile,
  replaceUnsynced,
} from '../../journal/write-files.ts'
import { isId, randomHex } from '../../journal/ids.ts'
import {
  isTooLarge,
  listFolder,
  listFolderIfPresent,
  readOrUndefined,
  statOrUndefined,
} from '../../journal/read-files.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { reportedSince } from '../../session/kinds/delegates.ts'
import { type SessionState, isSessionOpen } from '../../session/state.ts'
import { DEFAULT_CONFIG } from '../config/config.ts'
import { LiveSession } from './live-session.ts'
import {
  type OpenSession,
  listOpenSessions,
  openSessionsFolder,
  readOpenSession,
} from './open-session-files.ts'
import { type ProjectPaths, isRefusedJournal, logIds, logPaths } from './project-paths.ts'
import { defined } from '../../text/defined.ts'
import { checksum } from '../../journal/record.ts'

const MAX_REBUILT = 200

export function writeOpenSession(paths: ProjectPaths, state: SessionState): void {
  if (isSessionOpen(state)) announceSession(paths, openSessionOf(state))
  else removeFile(join(openSessionsFolder(paths), state.id))
}

export function announceSession(paths: ProjectPaths, open: OpenSession): void {
  const path = join(openSessionsFolder(paths), open.id)
  const text = JSON.stringify(open)
  if (readOrUndefined(path)?.toString('utf8') === text) return
  // A new folder with only this file would make the other sessions look finished.
  if (listFolderIfPresent(openSessionsFolder(paths)) === undefined) rebuildOpenSessions(paths)
  replaceUnsynced(path, text)
}

/** Rebuilt from the journals when the files are gone. */
export function readOpenSessions(paths: ProjectPaths): readonly OpenSession[] {
  const found = listOpenSessions(paths)
  if (found !== undefined || logIds(paths).size === 0) return found ?? []
  rebuildOpenSessions(paths)
  return listOpenSessions(paths) ?? []
}

/** Includes sessions that were just started or reopened. */
export function currentOpenSessions(paths: ProjectPaths): readonly OpenSession[] {
  const listed = readOpenSessions(paths).map(({ id }) => id)
  const touched = listTouched(paths.sessions).map(({ id }) => id)
  const ids = new Set([...listed, ...touched].filter((id) => id !== BACKLOG_ID))
  return [...ids].flatMap((id) => currentOpenSession(paths, id) ?? [])
}

/** From the session's file, or from its journal if that is newer; undefined unless open. */
export function currentOpenSession(paths: ProjectPaths, id: string): OpenSession | undefined {
  if (!isId(id) || id === BACKLOG_ID) return undefined
  const writtenAt = statOrUndefined(join(openSessionsFolder(paths), id))?.mtimeMs ?? 0
  const grownAt = statOrUndefined(logPaths(paths, id).path)?.mtimeMs ?? Infinity
  if (grownAt < writtenAt)
    return isRefusedJournal(paths, id) ? undefined : readOpenSession(paths, id)
  const session = new LiveSession(id, paths, DEFAULT_CONFIG)
  try {
    const state = session.open()
    const isUsable = isSessionOpen(state) && state.entryCount > 0 && !session.isRefused
    return isUsable ? openSessionOf(state) : undefined
  } catch (error) {
    // Announced and never created, or unreadable.
    if (!(error instanceof StintError)) throw error
    // Still the session here, so that the command that opens it says why it cannot.
    return isTooLarge(error) ? readOpenSession(paths, id) : undefined
  } finally {
    session.close()
  }
}

function openSessionOf(state: SessionState) {
  const { id, name, status, branch, worktree, updatedAt } = state
  const news = reportedSince(state, '').at(-1)?.reported
  return {
    id,
    name,
    status,
    ...defined({ branch, worktree }),
    updatedAt,
    ...defined({ news }),
  }
}

/** Built under another name first: an incomplete folder would be worse than none. */
function rebuildOpenSessions(paths: ProjectPaths) {
  const folder = `${openSessionsFolder(paths)}.${process.pid}.new`
  createFolderUnsynced(folder)
  const newest = [...logIds(paths)]
    .filter((id) => id !== BACKLOG_ID)
    .toSorted()
    .slice(-MAX_REBUILT)
  for (const id of newest) {
    const session = new LiveSession(id, paths, DEFAULT_CONFIG)
    try {
      const state = session.open()
      if (isSessionOpen(state))
        replaceUnsynced(join(folder, id), JSON.stringify(openSessionOf(state)))
    } catch (error) {
      // stint doctor reports unreadable sessions.
      if (!(error instanceof Error)) throw error
    } finally {
      session.close()
    }
  }
  try {
    moveFile(folder, openSessionsFolder(paths), { isDurable: false })
  } catch (error) {
    // Another process rebuilt them meanwhile.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error
    for (const name of listFolder(folder)) removeFile(join(folder, name))
    removeEmptyFolder(folder)
  }
}

// One session per branch, even when several agents or people start at once.

const STALE_MS = 5_000
const POLL_MS = 20

interface OpeningClaim {
  release(): void
}

/** Undefined while another process has the claim. Never waits. */
export function claimOpening(
  { repository, sessions }: ProjectPaths,
  branch: string | undefined,
): OpeningClaim | undefined {
  const here = JSON.stringify([branch, repository?.worktree])
  const path = join(sessions, `opening-${checksum(Buffer.from(here))}`)
  const owner = `${process.pid} ${randomHex(8)}`
  const release = () => {
    // Another process may have taken over a stale claim.
    if (readOrUndefined(path)?.toString('utf8') === owner) removeFile(path)
  }
  if (createFile(path, owner)) return { release }
  if (isHeld(path)) return undefined
  removeFile(path)
  return createFile(path, owner) ? { release } : undefined
}

export async function whileOpening<T>(
  paths: ProjectPaths,
  branch: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  let claim = claimOpening(paths, branch)
  for (; claim === undefined; claim = claimOpening(paths, branch)) await sleep()
  try {
    return await work()
  } finally {
    claim.release()
  }
}

// Not from a shared module: hooks load this file too.
function sleep() {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS))
}

function isHeld(path: string) {
  const age = Math.abs(Date.now() - (statOrUndefined(path)?.mtimeMs ?? 0))
  if (age > STALE_MS) return false
  const owner = Number.parseInt(readOrUndefined(path)?.toString('utf8') ?? '', 10)
  try {
    return owner > 0 && process.kill(owner, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
