import { join } from 'node:path'
import { listTouched } from '../../index/touched.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import {
  createFolderUnsynced,
  moveFile,
  removeEmptyFolder,
  removeFile,
  replaceUnsynced,
} from '../../journal/files.ts'
import { isId } from '../../journal/ids.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { reportedSince } from '../../session/kinds/delegates.ts'
import { type SessionState, isOpen } from '../../session/state.ts'
import { DEFAULTS } from '../config/config.ts'
import { LiveSession } from './live-session.ts'
import {
  type OpenSession,
  listOpenSessions,
  namesIn,
  openFolder,
  readOpenSession,
} from './open-session-files.ts'
import { type Place, logIds, logPlace } from './place.ts'
import { defined } from '../../text/defined.ts'

const MADE_AGAIN = 200

/** Says in its file what a session is now. A view like the others: whoever relies on one looks at the session itself. */
export function writeOpenSession(place: Place, state: SessionState): void {
  if (isOpen(state)) announceSession(place, openSessionOf(state))
  else removeFile(join(openFolder(place), state.id))
}

export function announceSession(place: Place, open: OpenSession): void {
  const path = join(openFolder(place), open.id)
  const text = JSON.stringify(open)
  if (readOrUndefined(path)?.toString('utf8') === text) return
  // Were only this one's file put into a new folder, the others would seem to be finished.
  if (namesIn(openFolder(place)) === undefined) makeAgain(place)
  replaceUnsynced(path, text)
}

/** The sessions that are not finished. When their files were taken away they are made again from the journals. */
export function readOpenSessions(place: Place): readonly OpenSession[] {
  const found = listOpenSessions(place)
  if (found !== undefined || logIds(place).size === 0) return found ?? []
  makeAgain(place)
  return listOpenSessions(place) ?? []
}

/** The sessions that are not finished, as their journals have it: also those that were only just begun or reopened. */
export function currentOpenSessions(place: Place): readonly OpenSession[] {
  const listed = readOpenSessions(place).map(({ id }) => id)
  const touched = listTouched(place.sessions).map(({ id }) => id)
  const ids = new Set([...listed, ...touched].filter((id) => id !== BACKLOG_ID))
  return [...ids].flatMap((id) => currentOpenSession(place, id) ?? [])
}

/** What a session's file says, or its journal where that was written to since; undefined unless it is open. */
export function currentOpenSession(place: Place, id: string): OpenSession | undefined {
  if (!isId(id) || id === BACKLOG_ID) return undefined
  const writtenAt = statOrUndefined(join(openFolder(place), id))?.mtimeMs ?? 0
  const grownAt = statOrUndefined(logPlace(place, id).path)?.mtimeMs ?? Infinity
  if (grownAt < writtenAt) return readOpenSession(place, id)
  const session = new LiveSession(id, place, DEFAULTS)
  try {
    const state = session.open()
    return isOpen(state) && state.entryCount > 0 ? openSessionOf(state) : undefined
  } catch (error) {
    // It was announced and never made, or its journal cannot be read.
    if (!(error instanceof StintError)) throw error
    return undefined
  } finally {
    session.close()
  }
}

function openSessionOf(state: SessionState): OpenSession {
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

/** All at once, under another name first: half of them would be worse than none. */
function makeAgain(place: Place): void {
  const folder = `${openFolder(place)}.${process.pid}.new`
  createFolderUnsynced(folder)
  const newest = [...logIds(place)]
    .filter((id) => id !== BACKLOG_ID)
    .toSorted()
    .slice(-MADE_AGAIN)
  for (const id of newest) {
    const session = new LiveSession(id, place, DEFAULTS)
    try {
      const state = session.open()
      if (isOpen(state)) replaceUnsynced(join(folder, id), JSON.stringify(openSessionOf(state)))
    } catch (error) {
      // One that cannot be read is `stint doctor`'s to name, and no reason not to find the others.
      if (!(error instanceof Error)) throw error
    } finally {
      session.close()
    }
  }
  try {
    moveFile(folder, openFolder(place), { isDurable: false })
  } catch (error) {
    // Another process made them again meanwhile.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error
    for (const name of namesIn(folder) ?? []) removeFile(join(folder, name))
    removeEmptyFolder(folder)
  }
}
