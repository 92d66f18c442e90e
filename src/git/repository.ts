// Reads files only: hooks do this on every event, and starting git costs more than everything else.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { StintError, errnoOf, isMissing } from '../journal/errors.ts'
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

/** A submodule is a repository of its own. Throws for one that another user owns, whose git directory belongs to another folder, or whose main worktree has one of `folders` from another user. */
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
      // A bare repository among the files of another one came with them, and so did its configuration.
      const around = isUnderDotGit(folder) ? undefined : findRepository(dirname(folder))
      return around ?? fromInside(folder)
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

function fromWorktree(worktree: string, named: string) {
  const gitDir = realPath(named)
  if (gitDir === undefined) return undefined
  const commonDir = commonDirOf(gitDir)
  if (commonDir === undefined || !belongsTo(worktree, gitDir, commonDir))
    throw redirected(worktree, gitDir)
  const isLinked = commonDir !== gitDir
  const mainRoot = isLinked ? mainRootOf(commonDir) : worktree
  return { worktree, gitDir, commonDir, mainRoot, isLinked }
}

/** An unpacked archive can name any git directory, also one of another project of the user, so that one has to name the folder too. */
function belongsTo(worktree: string, gitDir: string, commonDir: string) {
  if (commonDir !== gitDir) return linkedWorktree(gitDir) === worktree
  const configured = configuredWorktree(gitDir)
  if (configured !== undefined) return configured === worktree
  if (gitDir.startsWith(join(worktree, sep))) return true
  // `--separate-git-dir` leaves no reference back.
  return !isUnderDotGit(gitDir) && !isBare(gitDir)
}

function redirected(folder: string, gitDir: string) {
  return new StintError(
    'GIT_REDIRECTED',
    `${folder} uses the git directory ${gitDir}, which belongs to another folder, so Stint does not use it`,
    'after moving a worktree: git worktree repair; if you did not set it up, remove its .git',
  )
}

function fromInside(gitDir: string) {
  const commonDir = commonDirOf(gitDir)
  if (commonDir === undefined) return undefined
  const mainRoot = mainRootOf(commonDir)
  const isLinked = commonDir !== gitDir
  const worktree = isLinked ? linkedWorktree(gitDir) : undefined
  return { worktree: worktree ?? mainRoot, gitDir, commonDir, mainRoot, isLinked }
}

/** The folder that a linked worktree's git directory names, and that names it too. */
function linkedWorktree(gitDir: string) {
  // git keeps this file for pruning.
  const dotGit = readText(join(gitDir, 'gitdir'))?.trim()
  const folder = dotGit === undefined ? undefined : realPath(dirname(resolve(gitDir, dotGit)))
  return folder !== undefined && usesGitDir(folder, gitDir) ? folder : undefined
}

function usesGitDir(folder: string, gitDir: string) {
  const dotGit = join(folder, '.git')
  const target = isFolder(dotGit) ? dotGit : gitDirFromFile(dotGit)
  return target !== undefined && realPath(target) === gitDir
}

/** Only the name of a common directory or `core.worktree` tells its main worktree. For a bare repository it is its folder, or the folder around a hidden one; after `--separate-git-dir` it is the git directory. */
function mainRootOf(commonDir: string) {
  const configured = configuredWorktree(commonDir)
  if (configured !== undefined) {
    if (!usesGitDir(configured, commonDir)) throw redirected(configured, commonDir)
    return configured
  }
  const name = basename(commonDir)
  return name === '.git' || name === '.bare' ? dirname(commonDir) : commonDir
}

/** A folder that is missing counts as named. */
function configuredWorktree(gitDir: string) {
  for (const name of ['config.worktree', 'config']) {
    const value = coreSettingIn(readText(join(gitDir, name)) ?? '', 'worktree')
    if (value === undefined) continue
    const folder = resolve(gitDir, value)
    return realPath(folder) ?? folder
  }
  return undefined
}

function isBare(gitDir: string) {
  return /^(?:true|yes|on|1)$/i.test(
    coreSettingIn(readText(join(gitDir, 'config')) ?? '', 'bare') ?? '',
  )
}

function coreSettingIn(config: string, wanted: 'worktree' | 'bare') {
  let isCore = false
  let found: string | undefined
  for (const line of config.split('\n')) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)
    if (section !== null) isCore = section[1]?.toLowerCase() === 'core'
    const setting = isCore ? /^\s*(?:\[[^\]]*\]\s*)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) : null
    if (setting?.[1]?.toLowerCase() === wanted) found = unquoted(setting[2]!)
  }
  return found
}

function unquoted(value: string) {
  if (!value.startsWith('"')) return value
  return value.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1')
}

/** Undefined where the file names a directory whose linked worktree this is not: git puts those at one place. */
function commonDirOf(gitDir: string) {
  const named = readText(join(gitDir, 'commondir'))?.trim()
  if (!named) return gitDir
  const commonDir = realPath(resolve(gitDir, named))
  return commonDir !== undefined && dirname(gitDir) === join(commonDir, 'worktrees')
    ? commonDir
    : undefined
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
