import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { type Repository, findRepository } from '../../git/repository.ts'
import { isId } from '../../journal/ids.ts'
import type { LogPaths } from '../../journal/log.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { listFolder } from '../../journal/read-files.ts'
import { isMissing } from '../../journal/errors.ts'
import { createFolder, replaceFile, writeOnce } from '../../journal/write-files.ts'
import type { Config } from '../config/config.ts'

export interface ProjectPaths {
  readonly root: string
  readonly sessions: string
  readonly tasks: string
  readonly repository: Repository | undefined
}

/**
 * The main worktree, so that linked worktrees share sessions; without git, the nearest folder that
 * has sessions.
 */
export function findProjectPaths(cwd: string): ProjectPaths {
  const repository = findRepository(cwd)
  const root = repository?.mainRoot ?? nearestWithSessions(realpathSync(cwd)) ?? realpathSync(cwd)
  return { root, sessions: join(root, '.sessions'), tasks: join(root, '.tasks'), repository }
}

// Tasks may come before the first session.
const PROJECT_FOLDERS = ['.sessions/journal', '.sessions/backlog', '.tasks/active']

function nearestWithSessions(cwd: string) {
  const home = process.getBuiltinModule('node:os').homedir()
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (PROJECT_FOLDERS.some((name) => existsSync(join(folder, name)))) return folder
    if (folder === home || folder === dirname(folder)) return undefined
  }
}

export function isWithin(folder: string, path: string): boolean {
  const route = relative(folder, path)
  return route === '' || (route !== '..' && !route.startsWith(`..${sep}`) && !isAbsolute(route))
}

/** The folder of this worktree, not of the main one. */
export function workingFolder({ repository, root }: ProjectPaths): string {
  return repository?.worktree ?? root
}

export function journalFolder(paths: ProjectPaths, id: string): string {
  return join(paths.sessions, 'journal', id)
}

/** The second name survives `git clean` and `rm -r .sessions`. */
export function logPaths(paths: ProjectPaths, id: string): LogPaths {
  const { sessions, repository } = paths
  const folder = id === BACKLOG_ID ? join(sessions, 'backlog') : journalFolder(paths, id)
  const link = repository === undefined ? undefined : join(linkFolder(repository), `${id}.jsonl`)
  return { path: join(folder, 'log.jsonl'), link }
}

function linkFolder(repository: Repository) {
  return join(repository.commonDir, 'stint', 'journal')
}

export function logIds(paths: ProjectPaths): ReadonlySet<string> {
  const linked =
    paths.repository === undefined
      ? []
      : listFolder(linkFolder(paths.repository)).map((name) => name.replace(/\.jsonl$/, ''))
  const backlog = existsSync(logPaths(paths, BACKLOG_ID).path) ? [BACKLOG_ID] : []
  return new Set(
    [...listFolder(join(paths.sessions, 'journal')), ...linked, ...backlog].filter(isId),
  )
}

const MAX_ATTEMPTS = 10

export function prepareSessionsFolder(paths: ProjectPaths, config: Config): void {
  // git clean may remove the folder between any two calls.
  for (let attempt = 1; ; attempt += 1) {
    try {
      prepareOnce(paths.sessions, config.share === 'git')
      return
    } catch (error) {
      if (!isMissing(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

function prepareOnce(sessions: string, isShared: boolean) {
  createFolder(sessions)
  const [ignore, other] = isShared
    ? [SHARED_IGNORE, PRIVATE_IGNORE]
    : [PRIVATE_IGNORE, SHARED_IGNORE]
  const path = join(sessions, '.gitignore')
  writeOnce(path, ignore)
  // Only our own text is replaced, after the setting changed.
  if (readFileSync(path, 'utf8') === other) replaceFile(path, ignore)
  if (isShared) writeOnce(join(sessions, '.gitattributes'), SHARED_ATTRIBUTES)
}

const PRIVATE_IGNORE = '*\n'

// Everything else can be rebuilt.
const SHARED_IGNORE = [
  'index.db*',
  'touched/',
  'open/',
  'open.*',
  'opening-*',
  'exports.jsonl',
  'runs/',
  'conversations/',
  // Two machines may number handoffs alike; the journals hold both.
  'journal/*/handoffs/',
  'journal/*/progress.md',
  'journal/*/snapshot.json',
  'journal/*/state.*',
  'journal/*/taken-*',
  'journal/*/replaced-*',
  '.*.tmp',
  '',
].join('\n')

// Logs of two machines are joined; a document is never merged, the next command renders it.
const SHARED_ATTRIBUTES = [
  'journal/*/log.jsonl merge=union',
  'backlog/log.jsonl merge=union',
  'active/*.md -merge',
  'archive/*.md -merge',
  '',
].join('\n')

/** Session documents by the short id in their names; listed once, since there may be many. */
export function documentsByShortId({
  sessions,
}: ProjectPaths): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const folder of ['active', 'archive'].map((name) => join(sessions, name)))
    for (const name of listFolder(folder)) {
      const id = /-([0-9a-f]{6})\.md$/.exec(name)?.[1]
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), join(folder, name)])
    }
  return found
}

/** The folders that hold Stint's files of a project. */
export function ownFolders({ sessions, tasks, repository }: ProjectPaths): readonly string[] {
  return [
    sessions,
    tasks,
    ...(repository === undefined ? [] : [join(repository.commonDir, 'stint')]),
  ]
}
