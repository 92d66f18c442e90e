// Reads files only: hooks do this on every event, and starting git costs more than everything else.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import { readTextOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { requireOwnership } from './ownership.ts'

/** Every path is absolute and without symbolic links. */
export interface Repository {
  readonly worktree: string
  readonly gitDir: string
  readonly commonDir: string
  readonly mainRoot: string
  readonly isLinked: boolean
}

/** A submodule is a repository of its own. Throws for one that another user owns, or whose main worktree has one of `folders` from another user. */
export function findRepository(
  cwd: string,
  folders: readonly string[] = [],
): Repository | undefined {
  const found = searchUpwards(cwd)
  if (found === undefined) return undefined
  const { worktree, gitDir, mainRoot } = found
  const owned = [worktree, gitDir, ...(mainRoot === worktree ? [] : [mainRoot])]
  requireOwnership([...owned, ...folders.map((name) => join(mainRoot, name))], [worktree, mainRoot])
  return found
}

function searchUpwards(cwd: string): Repository | undefined {
  let folder = realPath(cwd)
  while (folder !== undefined) {
    const dotGit = join(folder, '.git')
    const kind = statOrUndefined(dotGit)
    if (kind?.isDirectory() === true && isGitDir(dotGit)) return fromWorktree(folder, dotGit)
    if (kind?.isFile() === true) {
      const target = gitDirFromFile(dotGit)
      return target !== undefined && isGitDir(target) ? fromWorktree(folder, target) : undefined
    }
    if (isGitDir(folder)) {
      const inside = fromInside(folder)
      const around = isUnderDotGit(folder) ? undefined : findRepository(dirname(folder))
      // A bare repository among the files of another one came with them, and so did its configuration.
      return around === undefined || around.commonDir === inside.commonDir ? inside : around
    }
    const parent = dirname(folder)
    folder = parent === folder ? undefined : parent
  }
  return undefined
}

/** git tracks no path with this name in it. */
function isUnderDotGit(folder: string) {
  return folder.split(sep).includes('.git')
}

function fromWorktree(worktree: string, dotGit: string) {
  const gitDir = realPath(dotGit)
  if (gitDir === undefined) return undefined
  const commonDir = commonDirOf(gitDir)
  const isLinked = commonDir !== gitDir
  const mainRoot = isLinked ? mainRootOf(commonDir) : worktree
  return { worktree, gitDir, commonDir, mainRoot, isLinked }
}

function fromInside(gitDir: string) {
  const commonDir = commonDirOf(gitDir)
  const mainRoot = mainRootOf(commonDir)
  const isLinked = commonDir !== gitDir
  // git keeps this file for pruning.
  const dotGit = isLinked ? readText(join(gitDir, 'gitdir'))?.trim() : undefined
  const worktree = dotGit === undefined ? undefined : realPath(dirname(resolve(gitDir, dotGit)))
  return { worktree: worktree ?? mainRoot, gitDir, commonDir, mainRoot, isLinked }
}

/** Only the name of a common directory or `core.worktree` tells its main worktree. For a bare repository it is its folder, or the folder around a hidden one; after `--separate-git-dir` it is the git directory. */
function mainRootOf(commonDir: string) {
  const configured = configuredWorktree(commonDir)
  if (configured !== undefined) return configured
  const name = basename(commonDir)
  return name === '.git' || name === '.bare' ? dirname(commonDir) : commonDir
}

function configuredWorktree(commonDir: string) {
  for (const name of ['config.worktree', 'config']) {
    const value = coreWorktreeIn(readText(join(commonDir, name)) ?? '')
    if (value !== undefined) return realPath(resolve(commonDir, value))
  }
  return undefined
}

function coreWorktreeIn(config: string) {
  let isCore = false
  let found: string | undefined
  for (const line of config.split('\n')) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)
    if (section !== null) isCore = section[1]?.toLowerCase() === 'core'
    const setting = isCore ? /^\s*(?:\[[^\]]*\]\s*)?worktree\s*=\s*(.*?)\s*$/i.exec(line) : null
    if (setting?.[1] !== undefined) found = unquoted(setting[1])
  }
  return found
}

function unquoted(value: string) {
  if (!value.startsWith('"')) return value
  return value.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1')
}

function commonDirOf(gitDir: string) {
  const named = readText(join(gitDir, 'commondir'))?.trim()
  return (named ? realPath(resolve(gitDir, named)) : undefined) ?? gitDir
}

function gitDirFromFile(dotGit: string) {
  const named = /^gitdir: (.+?)[\r\n]*$/.exec(readText(dotGit) ?? '')?.[1]
  return named === undefined ? undefined : resolve(dirname(dotGit), named)
}

// git's own test, so a folder that is only named .git is skipped.
function isGitDir(path: string) {
  if (
    statOrUndefined(join(path, 'HEAD')) === undefined &&
    readText(join(path, 'HEAD')) === undefined
  )
    return false
  if (statOrUndefined(join(path, 'commondir'))?.isFile() === true) return true
  return isFolder(join(path, 'objects')) && isFolder(join(path, 'refs'))
}

function isFolder(path: string) {
  return statOrUndefined(path)?.isDirectory() === true
}

function realPath(path: string) {
  return unlessDenied(() => realpathSync.native(path))
}

function readText(path: string) {
  return unlessDenied(() => readTextOrUndefined(path))
}

// A path that may not be read is not this user's repository.
function unlessDenied<T>(read: () => T) {
  try {
    return read()
  } catch (error) {
    if (isMissing(error) || ['EACCES', 'EPERM', 'ELOOP'].includes(errnoOf(error) ?? ''))
      return undefined
    throw error
  }
}
