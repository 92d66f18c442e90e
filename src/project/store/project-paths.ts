import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { requireOwnership } from '../../git/ownership.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { tryGit } from '../../git/run-git.ts'
import { stateHome } from '../../journal/state-home.ts'
import { checksum } from '../../journal/record.ts'
import { isId } from '../../journal/ids.ts'
import { type LogPaths, isOwnLog } from '../../journal/log.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import { StintError, isMissing } from '../../journal/errors.ts'
import { createFolder, replaceFile, restrictFolder, writeOnce } from '../../journal/write-files.ts'
import type { Config } from '../config/config.ts'
import { acceptsForeignJournals, ownMarkPath } from '../config/consent.ts'

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
  const repository = findRepository(cwd, ['.sessions', '.tasks'])
  const root = repository?.mainRoot ?? rootWithoutGit(realpathSync(cwd))
  return { root, sessions: join(root, '.sessions'), tasks: join(root, '.tasks'), repository }
}

function rootWithoutGit(cwd: string) {
  const root = nearestWithSessions(cwd)
  if (root === undefined) return cwd
  requireOwnership([root, join(root, '.sessions'), join(root, '.tasks')], [root])
  return root
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

/** An id may come from an index of a clone, and must not lead to another folder. */
export function journalFolder(paths: ProjectPaths, id: string): string {
  if (!isId(id))
    throw new StintError(
      'NO_SESSION',
      `${JSON.stringify(id)} is not the id of a session`,
      'stint doctor --repair builds the index again',
    )
  return join(paths.sessions, 'journal', id)
}

/** The second name survives `git clean` and `rm -r .sessions`. */
export function logPaths(paths: ProjectPaths, id: string): LogPaths {
  const { sessions, repository } = paths
  const folder = id === BACKLOG_ID ? join(sessions, 'backlog') : journalFolder(paths, id)
  const link = repository === undefined ? undefined : join(linkFolder(repository), `${id}.jsonl`)
  return { path: join(folder, 'log.jsonl'), link, ...ownershipOf(paths, id) }
}

/** How a log is known to be written here. */
export function ownershipOf({ root }: Pick<ProjectPaths, 'root'>, id: string) {
  return { ownMark: ownMarkPath(root, id), acceptsForeign: () => acceptsForeignJournals(root) }
}

/** A session or backlog that came with the repository, to which the user has not agreed. */
export function isRefusedJournal(paths: ProjectPaths, id: string): boolean {
  const log = logPaths(paths, id)
  return existsSync(log.path) && !isOwnLog(log) && !log.acceptsForeign!()
}

function linkFolder(repository: Repository) {
  return join(repository.commonDir, 'stint', 'journal')
}

/** For what must not come with a clone. */
export function machineFolder({ repository, root }: ProjectPaths): string {
  return repository === undefined
    ? join(stateHome(), 'folders', checksum(Buffer.from(root)))
    : join(repository.commonDir, 'stint')
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
      prepareOnce(paths, config.share === 'git')
      return
    } catch (error) {
      if (!isMissing(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

function prepareOnce(paths: ProjectPaths, isShared: boolean) {
  const { sessions } = paths
  createFolder(sessions)
  const [ignore, other] = isShared
    ? [SHARED_IGNORE, PRIVATE_IGNORE]
    : [PRIVATE_IGNORE, SHARED_IGNORE]
  const path = join(sessions, '.gitignore')
  writeOnce(path, ignore)
  if (isShared) writeOnce(join(sessions, '.gitattributes'), SHARED_ATTRIBUTES)
  const text = readOrUndefined(path)?.toString('utf8')
  // git would wait for a pipe.
  if (text === undefined || text === ignore) return
  // The user's own text stays while it keeps journals out of git: a clone can bring one that does not.
  if (text === other || (!isShared && notIgnored(paths).length > 0)) replaceFile(path, ignore)
}

const IGNORE_LIMIT = { timeoutMs: 2000 }

const PRIVATE_FILES = [
  'active/x.md',
  'archive/x.md',
  'backlog/log.jsonl',
  'conversations/x.jsonl',
  'index.db',
  'journal/x/log.jsonl',
  'outbox/x.json',
  'runs/x/log.jsonl',
]

/** Files of `.sessions` that git would add. Starts git. */
export function notIgnored({ root, repository }: ProjectPaths): readonly string[] {
  if (repository === undefined || !existsSync(join(root, '.git'))) return []
  const wanted = PRIVATE_FILES.map((name) => `.sessions/${name}`)
  const ignored = (
    tryGit(root, ['check-ignore', '--no-index', ...wanted], IGNORE_LIMIT) ?? ''
  ).split('\n')
  return wanted.filter((name) => !ignored.includes(name))
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

/** Whether a file of `.sessions/` is one that `prepareSessionsFolder` writes, unchanged. */
export function isOwnSettingsFile(name: string, text: string): boolean {
  if (name === '.gitignore') return text === SHARED_IGNORE || text === PRIVATE_IGNORE
  return name === '.gitattributes' && text === SHARED_ATTRIBUTES
}

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

/** Denies other users what Stint keeps; `.tasks` is the project's. Returns how many modes it changed. */
export function restrictAccess(paths: ProjectPaths, isThorough = false): number {
  const home = stateHome()
  // Worktrees hold the project's own files, and a folder of another name may hold other things.
  const spared = basename(home) === 'stint' ? join(home, 'worktrees') : home
  return [...ownFolders(paths).filter((folder) => folder !== paths.tasks), home]
    .map((folder) => restrictFolder(folder, { isThorough, spared }))
    .reduce((sum, changed) => sum + changed, 0)
}

/** The folders that hold Stint's files of a project. */
export function ownFolders(paths: ProjectPaths): readonly string[] {
  return [paths.sessions, paths.tasks, machineFolder(paths)]
}
