import type { AbridgedState } from '../document/snapshot.ts'
import type { Head } from '../git/head.ts'
import { StintError } from '../journal/errors.ts'
import type { Config } from '../project/config/config.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { belongsHere } from '../project/store/open-session-files.ts'
import { readOpenSessions } from '../project/store/open-sessions.ts'
import type { ProjectPaths } from '../project/store/project-paths.ts'
import { isSessionOpen } from '../session/state.ts'

export interface FoundSession extends AbridgedState {
  readonly session: LiveSession
}

export function openSessionById(
  place: ProjectPaths,
  config: Config,
  id: string,
): FoundSession | undefined {
  const session = new LiveSession(id, place, config)
  try {
    const opened = session.openTo()
    if (isSessionOpen(opened.state) && opened.state.entryCount > 0) return { session, ...opened }
  } catch (error) {
    // Its journal is gone or cannot be read: then the conversation works on none.
    if (!(error instanceof StintError)) throw error
  }
  session.close()
  return undefined
}

export interface SessionsHere {
  readonly active: FoundSession | undefined
  readonly paused: FoundSession | undefined
  /** Several are active, and nothing says which is meant. */
  readonly several: readonly string[]
}

export function findSessionsHere(place: ProjectPaths, config: Config, head: Head): SessionsHere {
  const open = readOpenSessions(place).filter((candidate) => belongsHere(candidate, place, head))
  // The files that say so are views: they may be older than the journals, or of a session that was never made.
  const found = open.slice(-MOST).flatMap(({ id }) => verified(id, place, config, head))
  const active = found.filter(({ state }) => state.status === 'active')
  const paused = found
    .filter(({ state }) => state.status === 'paused')
    .toSorted((x, y) => (x.state.updatedAt < y.state.updatedAt ? 1 : -1))
  const chosen = active.length === 1 ? active[0] : undefined
  const resting = active.length === 0 ? paused[0] : undefined
  for (const each of found) if (each !== chosen && each !== resting) each.session.close()
  return {
    active: chosen,
    paused: resting,
    several: active.length > 1 ? active.map(({ state }) => state.name) : [],
  }
}

/** More are not worked on at once on one branch. */
const MOST = 20

/** Named in the environment or on a command line. */
export function findNamedSession(
  place: ProjectPaths,
  config: Config,
  name: string,
): FoundSession | undefined {
  const open = readOpenSessions(place)
  const exact = open.filter((candidate) => candidate.id === name || candidate.name === name)
  const fitting = exact.length > 0 ? exact : open.filter((candidate) => candidate.id.includes(name))
  return fitting.length === 1 ? openSessionById(place, config, fitting[0]!.id) : undefined
}

function verified(
  id: string,
  place: ProjectPaths,
  config: Config,
  head: Head,
): readonly FoundSession[] {
  const found = openSessionById(place, config, id)
  if (found === undefined || belongsHere(found.state, place, head))
    return found === undefined ? [] : [found]
  found.session.close()
  return []
}
