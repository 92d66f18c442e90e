import { isRunning, listFolder } from '../journal/read-files.ts'
import { accessSync, constants, existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { NotWritten, StintError, errnoOf, isMissing } from '../journal/errors.ts'
import type { Repository } from './repository.ts'
import { isSecretFile } from './secret-files.ts'
import { tryGit, writeGit } from './run-git.ts'
import { randomHex } from '../journal/ids.ts'
import { join } from 'node:path'
import { copyMode, linkFile, removeFile, replaceFile } from '../journal/write-files.ts'

export interface TreeOptions {
  readonly exclude?: readonly string[]
  readonly maxFileBytes?: number
}

export const DEFAULT_EXCLUDE: readonly string[] = ['.sessions']
const MAX_FILE_BYTES = 50 * 1024 * 1024

// Reading must not start or change anything of the user's.
export const SAFE_CONFIG = ['hooksPath=/dev/null', 'splitIndex=false', 'safecrlf=false'].flatMap(
  (setting) => ['-c', `core.${setting}`],
)

const SUBMODULE = '160000'

export function writeWorkingTree(repository: Repository, options: TreeOptions = {}) {
  return withTemporaryIndex(repository.gitDir, (index) => {
    // latin1, so that names that are not UTF-8 come back byte for byte.
    const git = (args: readonly string[], input?: string) =>
      writeGit(repository.worktree, [...SAFE_CONFIG, ...args], {
        env: { GIT_INDEX_FILE: index },
        encoding: 'latin1',
        ...(input !== undefined && { input }),
      })
    const { deleted, present, leftOut, secrets } = listChanges(repository.worktree, git, options)
    // First and with --force-remove: git refuses a path below what is now a link or a file.
    if (deleted.length > 0)
      git(['update-index', '--force-remove', '-z', '--stdin'], joinNul(deleted))
    const add = (paths: readonly string[], settings: readonly string[] = []) => {
      if (paths.length > 0)
        git([...settings, 'update-index', '--add', '--remove', '-z', '--stdin'], joinNul(paths))
    }
    const isPrivate = (path: string) => isPrivateFile(repository.worktree, path)
    // Otherwise other users could read the content from the object, which git makes readable to all.
    keepingFolderModes(repository.commonDir, () =>
      add(present.filter(isPrivate), ['-c', 'core.sharedRepository=0600']),
    )
    add(present.filter((path) => !isPrivate(path)))
    const list = (paths: readonly string[]) => paths.map(toUtf8).sort()
    return { tree: git(['write-tree']).trim(), leftOut: list(leftOut), secrets: list(secrets) }
  })
}

type Git = (args: readonly string[], input?: string) => string

// `git add -A` stops at a nested repository without a commit, and fails when an excluded path is also ignored.
function listChanges(worktree: string, git: Git, options: TreeOptions) {
  const isExcluded = excludeMatcher(options.exclude ?? DEFAULT_EXCLUDE)
  const present = new Set<string>()
  const deleted = new Set<string>()
  const leftOut: string[] = []
  const secrets: string[] = []

  for (const { path, status, isSubmodule } of trackedChanges(git)) {
    // git writes no tree with a conflict in it, so those are resolved even in excluded paths.
    if (status !== 'U' && isExcluded(path)) continue
    const file = inspectFile(worktree, path)
    if (status === 'D' || file === 'missing') deleted.add(path)
    else if (file === 'unreadable') leftOut.push(path)
    else present.add(path)
    if (isSubmodule && hasOwnChanges(worktree, path)) leftOut.push(path)
  }

  const maxBytes = options.maxFileBytes ?? MAX_FILE_BYTES
  for (const path of splitNul(git(['ls-files', '-z', '--others', '--exclude-standard']))) {
    if (isExcluded(path)) continue
    const file = inspectFile(worktree, path)
    if (file === 'missing') continue
    // A nested repository is listed with a trailing slash; git would add none of its files.
    if (path.endsWith('/') || file === 'unreadable' || file > maxBytes) leftOut.push(path)
    else if (isSecretFile(worktree, path)) secrets.push(path)
    else present.add(path)
  }
  return {
    present: [...present],
    deleted: [...deleted].filter((path) => !present.has(path)),
    leftOut: [...new Set(leftOut)],
    secrets,
  }
}

function* trackedChanges(git: Git) {
  const fields = splitNul(
    git(['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=none']),
  )
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [before = '', after = '', , , status = ''] = (fields[i] ?? '').split(' ')
    const isSubmodule = before === `:${SUBMODULE}` && after === SUBMODULE
    yield { path: fields[i + 1] ?? '', status, isSubmodule }
  }
}

function hasOwnChanges(worktree: string, path: string) {
  return (
    tryGit(`${worktree}/${toUtf8(path)}`, ['status', '--porcelain'], { hasFilters: true }) !== ''
  )
}

/** A file that only its owner can read. */
function isPrivateFile(worktree: string, path: string) {
  const stat = lstatSync(fileName(worktree, path), { throwIfNoEntry: false })
  return stat?.isFile() === true && (stat.mode & 0o044) === 0
}

/** git would close the new folders of its objects too, also for later objects that are not private. */
function keepingFolderModes(commonDir: string, work: () => void) {
  const objects = join(commonDir, 'objects')
  const before = new Set(listFolder(objects))
  work()
  for (const name of listFolder(objects))
    if (!before.has(name)) copyMode(objects, join(objects, name))
}

function fileName(worktree: string, path: string) {
  return Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(path, 'latin1')])
}

function inspectFile(worktree: string, path: string) {
  const file = fileName(worktree, path)
  try {
    const stat = lstatSync(file)
    if (stat.isFile()) accessSync(file, constants.R_OK)
    return stat.size
  } catch (error) {
    if (isMissing(error)) return 'missing'
    if (errnoOf(error) === 'EACCES' || errnoOf(error) === 'EPERM') return 'unreadable'
    throw error
  }
}

function excludeMatcher(paths: readonly string[]): (path: string) => boolean {
  const folders = paths.map((path) => Buffer.from(path.replace(/\/+$/, '')).toString('latin1'))
  return (path) => folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

function splitNul(list: string) {
  return list.split('\0').filter((part) => part !== '')
}

function joinNul(paths: readonly string[]) {
  return paths.map((path) => `${path}\0`).join('')
}

function toUtf8(path: string) {
  return Buffer.from(path, 'latin1').toString('utf8')
}

/** git treats a missing index as an empty one. */
class IndexLost extends StintError {
  override readonly name = 'IndexLost'
  constructor(readonly path: string) {
    super('INDEX_LOST', `the temporary index ${path} was removed by another program`, 'try again')
  }
}

const INDEX_NAME = /^stint-index-(\d+)-(\d+)-[0-9a-f]+(?:\.lock)?$/
const STALE_MS = 60 * 60_000

export function withTemporaryIndex<T>(gitDir: string, use: (path: string) => T): T {
  removeStaleIndexes(gitDir)
  const path = join(gitDir, `stint-index-${Date.now()}-${process.pid}-${randomHex(6)}`)
  try {
    const isNew = !linkIndex(join(gitDir, 'index'), path)
    const result = use(path)
    if (!isNew && !existsSync(path)) throw new IndexLost(path)
    return result
  } finally {
    removeFile(path)
    removeFile(`${path}.lock`)
  }
}

/** Their time is in their name, because a hard link of the index shares its modification time. */
function removeStaleIndexes(gitDir: string) {
  for (const name of readdirSync(gitDir)) {
    const [, createdAt, pid] = INDEX_NAME.exec(name) ?? []
    const isOld = createdAt !== undefined && Date.now() - Number(createdAt) >= STALE_MS
    if (isOld && !isRunning(Number(pid))) removeFile(join(gitDir, name))
  }
}

/** git renames a new index over this path, so the user's index stays unchanged. A copy would be newer, and git would skip files that it must check. */
function linkIndex(index: string, path: string) {
  try {
    linkFile(index, path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    try {
      // Without hard links a change of the same size in the instant of the last `git add` may be missed.
      replaceFile(path, readFileSync(index))
      return true
    } catch (second) {
      throw new NotWritten(path, errnoOf(second) === undefined ? error : second)
    }
  }
}
