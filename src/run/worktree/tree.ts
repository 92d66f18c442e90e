// Where a run works: a branch and a worktree of its own, or the user's checkout when asked. Nothing is removed that is
// not this run's and clean, and nothing is reset before it is kept under `refs/stint/`.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Head, commitOfRef, readHead } from '../../git/head.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { GitFailed, askGit, runGit } from '../../git/run-git.ts'
import { changesIn, dirtyPaths, pathsIn } from '../../git/status.ts'
import { DEFAULT_EXCLUDE } from '../../git/working-tree.ts'
import { StintError } from '../../journal/errors.ts'
import { createFolder } from '../../journal/files.ts'
import { shortId } from '../../journal/ids.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf, worktreesFolder } from '../../project/store/worktrees.ts'
import { TREE_OUTBOX } from '../../project/store/tree-outbox.ts'

export interface RunTree {
  readonly tree: string
  readonly branch: string
  readonly base: string
  readonly isInPlace: boolean
}

/** Task files are views that Stint itself writes, and the outbox is the agent's mail to the run; they are nobody's uncommitted work. */
export const NOT_WORK = [...DEFAULT_EXCLUDE, '.tasks', TREE_OUTBOX]

export function uncommitted(tree: string): readonly string[] {
  return dirtyPaths(tree, NOT_WORK)
}

/** Paths whose changes git was told not to see, so that what is verified may not be what is committed. */
export function hiddenPaths(tree: string, encoding: 'utf8' | 'latin1' = 'utf8'): readonly string[] {
  const lines = runGit(tree, ['ls-files', '-v', '-z'], { encoding }).split('\0')
  const isSparse = lines.some((line) => line.startsWith('S')) && isSparseCheckout(tree)
  // Of a sparse checkout, what is outside of it is not there.
  const isMeantToBe = (path: string) =>
    isSparse && !existsSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from(path, encoding)]))
  return lines
    .filter((line) => /^[a-z]/.test(line) || (line.startsWith('S') && !isMeantToBe(line.slice(2))))
    .map((line) => line.slice(2))
}

function isSparseCheckout(tree: string): boolean {
  const setting = ['--type=bool', '--default=false', '--get', 'core.sparseCheckout']
  return runGit(tree, ['config', ...setting]).trim() === 'true'
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

/** A worktree of the run's own, on a new branch off a commit, that which is checked out now unless another is named, or on one that exists and nobody has checked out. */
export function treeOfItsOwn(
  place: Place,
  run: string,
  wanted: string | undefined,
  { name = `run-${shortId(run)}`, from }: { readonly name?: string; readonly from?: string } = {},
): RunTree {
  const { worktree } = repositoryOf(place)
  const commit = from ?? headOf(worktree).commit
  const branch = wanted ?? `stint/${name}`
  if (!askGit(worktree, ['check-ref-format', '--branch', branch])) {
    throw new StintError(
      'BAD_BRANCH',
      `"${branch}" is no name for a branch`,
      'give another with --branch',
    )
  }
  const tree = join(worktreesFolder(place), name)
  createFolder(join(tree, '..'))
  const isThere = commitOf(worktree, branch) !== undefined
  try {
    runGit(worktree, [
      'worktree',
      'add',
      '--quiet',
      ...(isThere ? [tree, branch] : ['-b', branch, tree, commit]),
    ])
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    takeBack(worktree, tree, isThere ? undefined : { branch, commit })
    throw new StintError(
      'NO_WORKTREE',
      `no worktree for ${branch}: ${error.stderr.trim() || error.message}`,
      'choose another branch with --branch, or work with --in-place',
    )
  }
  return { tree, branch, base: isThere ? headOf(tree).commit : commit, isInPlace: false }
}

/** A hook of the user's that fails makes git say no and leave what it made. */
function takeBack(
  worktree: string,
  tree: string,
  made: { branch: string; commit: string } | undefined,
): void {
  const isMade = repositoryAt(tree) !== undefined
  if (isMade) runGit(worktree, ['worktree', 'remove', '--force', tree])
  if (made !== undefined && commitOf(worktree, made.branch) === made.commit) {
    runGit(worktree, ['branch', '--quiet', '-D', made.branch])
  }
}

/** Where HEAD of a worktree is that has to have a commit. */
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

/** Where HEAD is, wherever an agent has left it; undefined when the folder is no worktree any more. */
export function headNow(tree: string): Head | undefined {
  const repository = repositoryAt(tree)
  return repository === undefined ? undefined : readHead(repository)
}

/** The repository whose worktree this folder itself is, and not one around it. */
export function repositoryAt(tree: string): Repository | undefined {
  if (!existsSync(tree)) return undefined
  const repository = findRepository(tree)
  return repository?.worktree === realpathSync.native(tree) ? repository : undefined
}

/** HEAD in words. */
export function headInWords(head: Head | undefined): string {
  if (head === undefined) return 'nowhere: this is no worktree any more'
  if (head.branch === undefined) return `no branch, at ${head.commit?.slice(0, 10) ?? 'no commit'}`
  return head.commit === undefined ? `${head.branch}, a branch without a commit` : head.branch
}

/** The commit of a branch, if there is such a branch. */
export function commitOf(tree: string, branch: string): string | undefined {
  const repository = findRepository(tree)
  return repository === undefined ? undefined : commitOfRef(repository, `refs/heads/${branch}`)
}

/** Makes a worktree again that somebody took away: from its branch, or from a commit when the branch is gone too. */
export function bringBack(place: Place, tree: string, branch: string, otherwise: string): void {
  const { mainRoot } = repositoryOf(place)
  const add =
    commitOf(mainRoot, branch) === undefined ? ['-b', branch, tree, otherwise] : [tree, branch]
  try {
    // Of one that has lost its `.git` the files are still there.
    if (existsSync(tree)) runGit(mainRoot, ['worktree', 'repair', tree])
    else {
      runGit(mainRoot, ['worktree', 'prune'])
      runGit(mainRoot, ['worktree', 'add', '--quiet', ...add])
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
  }
  if (repositoryAt(tree) !== undefined) return
  throw new StintError(
    'NO_TREE',
    `${tree} is no worktree of this repository any more and cannot be made again`,
    `move it away, then: git worktree add ${tree} ${branch}`,
  )
}

/** What the files amount to now: whether a turn changed anything is seen by this. */
export function fingerprint(tree: string): string {
  const head = headNow(tree)
  if (head === undefined) return 'no worktree'
  const changes = changesIn(tree)
  const isComparable = changes !== '' && head.commit !== undefined
  const diff = isComparable ? runGit(tree, ['diff', 'HEAD', '--no-ext-diff', '--no-textconv']) : ''
  // What is in files that git does not know is told by neither.
  const untracked = pathsIn(changes, NOT_WORK)
    .slice(0, 2000)
    .map((path) => lstatSync(join(tree, path), { throwIfNoEntry: false }))
    .map((found) => `${found?.size} ${found?.mtimeMs}`)
  return createHash('sha256')
    .update([head.branch, head.commit, changes, diff, ...untracked].join('\0'))
    .digest('hex')
}

/** How many commits the branch has beyond one, and whether it still builds on it. */
export function commitsSince(
  tree: string,
  base: string,
): { readonly count: number; readonly isKept: boolean } {
  const range = `${base}...${headOf(tree).commit}`
  const counts = runGit(tree, ['rev-list', '--count', '--left-right', range, '--'])
  const [lost, count] = counts.split('\t').map(Number)
  return { count: count!, isKept: lost === 0 }
}

/** The newest commits beyond one, oldest first. */
export function newCommits(
  tree: string,
  base: string,
  most = 50,
): readonly { commit: string; subject: string }[] {
  return runGit(tree, [
    'log',
    '--reverse',
    `--max-count=${most}`,
    '--format=%H %s',
    `${base}..HEAD`,
    '--',
  ])
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1),
    }))
}
