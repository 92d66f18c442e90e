import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Repository, findRepository } from '../../git/repository.ts'
import { isId } from '../../journal/ids.ts'
import type { LogPlace } from '../../journal/log.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { namesIn } from '../../journal/look.ts'

export interface Place {
  readonly root: string
  readonly sessions: string
  readonly tasks: string
  readonly repository: Repository | undefined
}

/**
 * The main worktree, so that linked worktrees share sessions; without git, the nearest folder that
 * has sessions.
 */
export function findPlace(cwd: string): Place {
  const repository = findRepository(cwd)
  const root = repository?.mainRoot ?? nearestWithSessions(realpathSync(cwd)) ?? realpathSync(cwd)
  return { root, sessions: join(root, '.sessions'), tasks: join(root, '.tasks'), repository }
}

// Tasks may come before the first session.
const MARKS = [join('.sessions', 'journal'), join('.sessions', 'backlog'), join('.tasks', 'active')]

function nearestWithSessions(cwd: string): string | undefined {
  const home = process.getBuiltinModule('node:os').homedir()
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (MARKS.some((mark) => existsSync(join(folder, mark)))) return folder
    if (folder === home || folder === dirname(folder)) return undefined
  }
}

export function journalFolder(place: Place, id: string): string {
  return join(place.sessions, 'journal', id)
}

/** The second name survives `git clean` and `rm -r .sessions`. */
export function logPlace(place: Place, id: string): LogPlace {
  if (id === BACKLOG_ID)
    return { path: join(place.sessions, 'backlog', 'log.jsonl'), link: linkOf(place, id) }
  return { path: join(journalFolder(place, id), 'log.jsonl'), link: linkOf(place, id) }
}

function linkOf(place: Place, id: string): string | undefined {
  return place.repository === undefined
    ? undefined
    : join(linkFolder(place.repository), `${id}.jsonl`)
}

function linkFolder(repository: Repository): string {
  return join(repository.commonDir, 'stint', 'journal')
}

export function logIds(place: Place): ReadonlySet<string> {
  const linked =
    place.repository === undefined
      ? []
      : namesIn(linkFolder(place.repository)).map((name) => name.replace(/\.jsonl$/, ''))
  const backlog = existsSync(logPlace(place, BACKLOG_ID).path) ? [BACKLOG_ID] : []
  return new Set([...namesIn(join(place.sessions, 'journal')), ...linked, ...backlog].filter(isId))
}
