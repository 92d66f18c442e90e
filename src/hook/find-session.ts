import type { AbridgedState } from '../document/snapshot.ts'
import type { Head } from '../git/head.ts'
import { StintError } from '../journal/errors.ts'
import { isTooLarge } from '../journal/read-files.ts'
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
  paths: ProjectPaths,
  config: Config,
  id: string,
  { isBound = false } = {},
): FoundSession | undefined {
  const session = new LiveSession(id, paths, config)
  try {
    const opened = session.openTo()
    // What a stranger recorded is not the user's session until they agree.
    const isUsable = isSessionOpen(opened.state) && opened.state.entryCount > 0
    if (isUsable && !session.isRefused) return { session, ...opened }
  } catch (error) {
    // A missing or unreadable journal counts as no session.
    if (!(error instanceof StintError)) throw error
    // The session of a conversation is still its session; what the hook captures waits in the outbox.
    if (isBound && isTooLarge(error)) throw error
  }
  session.close()
  return undefined
}

export interface SessionsHere {
  readonly active: FoundSession | undefined
  readonly paused: FoundSession | undefined
  /** Names, if several are active and none is selected. */
  readonly several: readonly string[]
}

export function findSessionsHere(paths: ProjectPaths, config: Config, head: Head): SessionsHere {
  const open = readOpenSessions(paths).filter((candidate) => belongsHere(candidate, paths, head))
  // The files in `open/` may be older than the journals, or belong to a session that was never
  // created.
  const found = open.slice(-MAX_CANDIDATES).flatMap(({ id }) => openIfHere(id, paths, config, head))
  const active = found.filter(({ state }) => state.status === 'active')
  const paused = found
    .filter(({ state }) => state.status === 'paused')
    .toSorted((x, y) => (x.state.updatedAt < y.state.updatedAt ? 1 : -1))
  const chosen = active.length === 1 ? active[0] : undefined
  const latestPaused = active.length === 0 ? paused[0] : undefined
  for (const each of found) if (each !== chosen && each !== latestPaused) each.session.close()
  return {
    active: chosen,
    paused: latestPaused,
    several: active.length > 1 ? active.map(({ state }) => state.name) : [],
  }
}

const MAX_CANDIDATES = 20

export function findNamedSession(
  paths: ProjectPaths,
  config: Config,
  name: string,
): FoundSession | undefined {
  const open = readOpenSessions(paths)
  const exact = open.filter((candidate) => candidate.id === name || candidate.name === name)
  const fitting = exact.length > 0 ? exact : open.filter((candidate) => candidate.id.includes(name))
  return fitting.length === 1 ? openSessionById(paths, config, fitting[0]!.id) : undefined
}

function openIfHere(
  id: string,
  paths: ProjectPaths,
  config: Config,
  head: Head,
): readonly FoundSession[] {
  const found = openSessionById(paths, config, id)
  if (found === undefined) return []
  if (belongsHere(found.state, paths, head)) return [found]
  found.session.close()
  return []
}
