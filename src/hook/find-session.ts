import type { Head } from '../git/head.ts'
import { StintError } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/files.ts'
import type { Config } from '../project/config.ts'
import { LiveSession } from '../project/live-session.ts'
import { type OpenSession, readOpenSessions } from '../project/open-sessions.ts'
import type { Place } from '../project/place.ts'
import { type SessionState, isOpen } from '../session/state.ts'

export interface Found {
  readonly session: LiveSession
  readonly state: SessionState
  /** How much of its log had to be read. */
  readonly read: number
}

/** The session with this id, as long as it is open. */
export function openById(place: Place, config: Config, id: string): Found | undefined {
  const session = new LiveSession(id, place, config)
  try {
    const { state, read } = session.openTo()
    if (isOpen(state) && state.entryCount > 0) return { session, state, read }
  } catch (error) {
    // Its journal is gone or cannot be read: then the conversation works on none.
    if (!(error instanceof StintError)) throw error
  }
  session.close()
  return undefined
}

/** What is open where a conversation stands. */
export interface Here {
  readonly active: Found | undefined
  readonly paused: Found | undefined
  /** More than one is active here, and nothing says which is meant. */
  readonly several: readonly string[]
}

/** The sessions of this worktree and branch. One that is bound to another branch or worktree is somebody else's. */
export function sessionsHere(place: Place, config: Config, head: Head): Here {
  const open = readOpenSessions(place).filter((candidate) => belongs(candidate, place, head))
  const active = open.filter(({ status }) => status === 'active')
  const paused = open.filter(({ status }) => status === 'paused').toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  if (active.length > 1) return { active: undefined, paused: undefined, several: active.map(({ name }) => name) }
  return {
    active: verified(active[0], 'active', place, config, head),
    paused: active.length === 1 ? undefined : verified(paused[0], 'paused', place, config, head),
    several: [],
  }
}

/** The open session that a person named, in the environment or on a command line. */
export function namedSession(place: Place, config: Config, name: string): Found | undefined {
  const open = readOpenSessions(place)
  const exact = open.filter((candidate) => candidate.id === name || candidate.name === name)
  const fitting = exact.length > 0 ? exact : open.filter((candidate) => candidate.id.includes(name))
  return fitting.length === 1 ? openById(place, config, fitting[0]!.id) : undefined
}

function belongs({ branch, worktree }: Omit<OpenSession, 'id'>, { repository }: Place, head: Head): boolean {
  if (repository === undefined) return true
  const here = repository.isLinked ? repository.worktree : undefined
  if (worktree === here) return worktree !== undefined || branch === head.branch
  // One whose worktree is gone is of its branch again.
  return branch === head.branch && (worktree === undefined || statOrUndefined(worktree) === undefined)
}

// The file that says so is a view, and may be older than the journal.
function verified(
  candidate: OpenSession | undefined,
  status: 'active' | 'paused',
  place: Place,
  config: Config,
  head: Head,
): Found | undefined {
  const found = candidate === undefined ? undefined : openById(place, config, candidate.id)
  if (found === undefined) return undefined
  if (found.state.status === status && belongs({ ...found.state, updatedAt: '' }, place, head)) return found
  found.session.close()
  return undefined
}
