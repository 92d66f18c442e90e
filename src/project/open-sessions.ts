import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import { createFolder, moveFile, readOrUndefined, removeEmptyFolder, removeFile, replaceUnsynced } from '../journal/files.ts'
import { isId } from '../journal/ids.ts'
import { BACKLOG_ID } from '../session/entries.ts'
import { type SessionState, type SessionStatus, isOpen } from '../session/state.ts'
import { DEFAULTS } from './config.ts'
import { LiveSession } from './live-session.ts'
import { type Place, logIds } from './place.ts'

/** What has to be known of a session to tell whether it belongs here. */
export interface OpenSession {
  readonly id: string
  readonly name: string
  readonly status: SessionStatus
  readonly branch?: string
  readonly worktree?: string
  readonly updatedAt: string
}

const MOST = 500
const MADE_AGAIN = 200

/**
 * A small file for each session that is not finished, so that a hook finds the one of its branch without
 * the index. A view like the others: whoever relies on one looks at the session itself.
 */
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
  let names = namesIn(openFolder(place))
  if (names === undefined) {
    if (logIds(place).size === 0) return []
    makeAgain(place)
    names = namesIn(openFolder(place)) ?? []
  }
  return names
    .filter(isId)
    .slice(-MOST)
    .flatMap((name) => {
      const open = parse(readOrUndefined(join(openFolder(place), name)))
      return open?.id === name ? [open] : []
    })
}

export function openSessionOf(state: SessionState): OpenSession {
  const { id, name, status, branch, worktree, updatedAt } = state
  return {
    id,
    name,
    status,
    ...(branch === undefined ? {} : { branch }),
    ...(worktree === undefined ? {} : { worktree }),
    updatedAt,
  }
}

/** All at once, under another name first: half of them would be worse than none. */
function makeAgain(place: Place): void {
  const folder = `${openFolder(place)}.${process.pid}.new`
  createFolder(folder)
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
    moveFile(folder, openFolder(place))
  } catch (error) {
    // Another process made them again meanwhile.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error
    for (const name of namesIn(folder) ?? []) removeFile(join(folder, name))
    removeEmptyFolder(folder)
  }
}

function namesIn(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function openFolder(place: Place): string {
  return join(place.sessions, 'open')
}

function parse(bytes: Buffer | undefined): OpenSession | undefined {
  if (bytes === undefined) return undefined
  try {
    return JSON.parse(bytes.toString('utf8')) as OpenSession
  } catch {
    // Cut off when the power failed; the next command on the session writes it again.
    return undefined
  }
}
