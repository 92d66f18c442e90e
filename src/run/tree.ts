// Where a run works: a branch and a worktree of its own, or the user's checkout when asked. Nothing is removed that is
// not this run's and clean, and nothing is reset before it is kept under `refs/stint/`.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { keepCode } from '../git/code-checkpoint.ts'
import { readHead } from '../git/head.ts'
import { type Repository, findRepository } from '../git/repository.ts'
import { GitFailed, askGit, runGit } from '../git/run-git.ts'
import { dirtyPaths } from '../git/status.ts'
import { DEFAULT_EXCLUDE } from '../git/working-tree.ts'
import { StintError } from '../journal/errors.ts'
import { createFolder } from '../journal/files.ts'
import { shortId } from '../journal/ids.ts'
import { stateHome } from '../journal/state-home.ts'
import type { Place } from '../project/place.ts'

export interface RunTree {
  readonly tree: string
  readonly branch: string
  readonly base: string
  readonly isInPlace: boolean
}

/** Task files are views that Stint itself writes; they are nobody's uncommitted work. */
const NOT_WORK = [...DEFAULT_EXCLUDE, '.tasks']

export function uncommitted(tree: string): readonly string[] {
  return dirtyPaths(tree, NOT_WORK)
}

export function repositoryOf(place: Place): Repository {
  if (place.repository !== undefined) return place.repository
  throw new StintError(
    'NO_REPOSITORY',
    'a run needs a git repository: its work is proved by commits',
    'git init && git add -A && git commit -m start',
  )
}

/** The user's own checkout, which has to be clean, since the agent's work would mix with theirs. */
export function treeInPlace(place: Place): RunTree {
  const { worktree } = repositoryOf(place)
  const { branch, commit } = headOf(worktree)
  if (branch === undefined) {
    throw new StintError(
      'NO_BRANCH',
      'this checkout is on no branch, so that commits would belong to none',
      'git switch -c NAME, or leave --in-place away',
    )
  }
  const dirty = uncommitted(worktree)
  if (dirty.length > 0) {
    const some = dirty.slice(0, 5).join(', ')
    throw new StintError(
      'TREE_DIRTY',
      `${dirty.length === 1 ? '1 path is' : `${dirty.length} paths are`} not committed: ${some}`,
      'commit or stash them, or leave --in-place away',
    )
  }
  return { tree: worktree, branch, base: commit, isInPlace: true }
}

/** A worktree of the run's own, on a new branch off the commit that is checked out now, or on one that exists and nobody has checked out. */
export function treeOfItsOwn(place: Place, run: string, wanted: string | undefined): RunTree {
  const { worktree } = repositoryOf(place)
  const { commit } = headOf(worktree)
  const branch = wanted ?? `stint/run-${shortId(run)}`
  if (!askGit(worktree, ['check-ref-format', '--branch', branch])) {
    throw new StintError('BAD_BRANCH', `"${branch}" is no name for a branch`, 'give another with --branch')
  }
  const tree = join(worktreesFolder(place), `run-${shortId(run)}`)
  createFolder(join(tree, '..'))
  const isThere = askGit(worktree, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])
  try {
    runGit(worktree, ['worktree', 'add', '--quiet', ...(isThere ? [tree, branch] : ['-b', branch, tree, commit])])
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    throw new StintError(
      'NO_WORKTREE',
      `no worktree for ${branch}: ${error.stderr.trim() || error.message}`,
      'choose another branch with --branch, or work with --in-place',
    )
  }
  return { tree, branch, base: isThere ? headOf(tree).commit : commit, isInPlace: false }
}

/** Where the worktrees of a project's runs are: outside of it, so that no tool comes across them there. */
export function worktreesFolder(place: Place): string {
  const { commonDir } = repositoryOf(place)
  const project = `${basename(place.root)}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`
  return join(stateHome(), 'worktrees', project)
}

/** Where HEAD of a worktree is. */
export function headOf(tree: string): { readonly branch?: string; readonly commit: string } {
  const repository = findRepository(tree)
  const head = repository === undefined ? {} : readHead(repository)
  if (head.commit !== undefined) return { ...head, commit: head.commit }
  throw new StintError(
    'NO_COMMIT',
    'this repository has no commit yet, so that there is nothing to work from',
    'git add -A && git commit -m start',
  )
}

/** What the files amount to now: whether a turn changed anything is seen by this. */
export function fingerprint(tree: string): string {
  const { commit } = headOf(tree)
  const changes = runGit(tree, ['status', '--porcelain=v1', '-z', '--untracked-files=all'])
  const diff = changes === '' ? '' : runGit(tree, ['diff', 'HEAD', '--no-ext-diff', '--no-textconv'])
  // What is in files that git does not know is told by neither.
  const untracked = dirtyPaths(tree, NOT_WORK)
    .slice(0, 2000)
    .map((path) => lstatSync(join(tree, path), { throwIfNoEntry: false }))
    .map((found) => `${found?.size} ${found?.mtimeMs}`)
  return createHash('sha256')
    .update([commit, changes, diff, ...untracked].join('\0'))
    .digest('hex')
}

export interface SetBack {
  /** Where the work of the failed attempts is kept; absent when there was none. */
  readonly kept?: string
  readonly leftOut: readonly string[]
}

/** Keeps all that failed attempts left, commits included, and goes back to where the task began, so that the next starts from what is good. */
export function keepAndSetBack(tree: string, ref: string, base: string, message: string): SetBack {
  const repository = findRepository(tree)!
  const dirty = uncommitted(tree)
  if (headOf(tree).commit === base && dirty.length === 0) return { leftOut: [] }
  const { leftOut } = keepCode(repository, { ref, message, exclude: NOT_WORK })
  runGit(tree, ['reset', '--quiet', '--hard', base])
  const untracked = uncommitted(tree).filter((path) => !leftOut.includes(path))
  // By name: what was not kept stays.
  if (untracked.length > 0) runGit(tree, ['clean', '--quiet', '-fd', '--', ...untracked.map((path) => `:(top,literal)${path}`)])
  return { kept: ref, leftOut }
}

/** How many commits the branch has beyond one, and whether it still builds on it. */
export function commitsSince(tree: string, base: string): { readonly count: number; readonly isKept: boolean } {
  const { commit } = headOf(tree)
  const isKept = askGit(tree, ['merge-base', '--is-ancestor', base, commit])
  return { count: Number(runGit(tree, ['rev-list', '--count', `${base}..${commit}`, '--'])), isKept }
}

/** The newest commits beyond one, oldest first. */
export function newCommits(tree: string, base: string, most = 50): readonly { commit: string; subject: string }[] {
  return runGit(tree, ['log', '--reverse', `--max-count=${most}`, '--format=%H %s', `${base}..HEAD`, '--'])
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ commit: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}

/** Takes the worktree of a finished run away. Its branch stays; so does the worktree when anything in it is not committed. */
export function removeIfClean(place: Place, { tree, isInPlace }: RunTree): boolean {
  if (isInPlace || !existsSync(tree) || uncommitted(tree).length > 0) return false
  try {
    runGit(repositoryOf(place).mainRoot, ['worktree', 'remove', tree])
    return true
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  }
}

/** Takes back a worktree and a branch that were just made and that nobody has worked on. */
export function removeUnused(place: Place, { tree, branch, base }: RunTree): void {
  const { mainRoot } = repositoryOf(place)
  const isUnused = headOf(tree).commit === base
  runGit(mainRoot, ['worktree', 'remove', '--force', tree])
  // Its commit is where it began from, so that nothing goes with the name.
  if (isUnused && branch.startsWith('stint/run-')) runGit(mainRoot, ['branch', '--quiet', '-D', branch])
}
