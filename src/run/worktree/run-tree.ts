import { createHash } from 'node:crypto'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Head, commitOfRef, readHead } from '../../git/head.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { GitFailed, type GitPlace, gitSucceeds, runGit, writeGit } from '../../git/run-git.ts'
import { dirtyPaths, gitStatus, pathsInStatus } from '../../git/status.ts'
import { DEFAULT_EXCLUDE } from '../../git/working-tree.ts'
import { StintError } from '../../journal/errors.ts'
import { readOrUndefined, sameFile } from '../../journal/read-files.ts'
import { createFolder } from '../../journal/write-files.ts'
import { shortId } from '../../journal/ids.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository, worktreesFolder } from '../../project/store/worktrees.ts'
import { WORKTREE_OUTBOX } from '../../project/store/worktree-outbox.ts'

export interface RunTree {
  readonly tree: string
  readonly branch: string
  readonly base: string
  readonly isInPlace: boolean
}

/** Task files are views and the outbox holds entries, so neither is uncommitted work. */
export const IGNORED_PATHS = [...DEFAULT_EXCLUDE, '.tasks', WORKTREE_OUTBOX]

export function uncommittedPaths(tree: string): readonly string[] {
  return dirtyPaths(tree, IGNORED_PATHS, { hasFilters: true })
}

/** Paths hidden from git (skip-worktree, assume-unchanged): what is verified may not be what is committed. */
export function hiddenPaths(tree: string, encoding: 'utf8' | 'latin1' = 'utf8'): readonly string[] {
  const lines = runGit(tree, ['ls-files', '-v', '-z'], { encoding }).split('\0')
  const setting = ['--type=bool', '--default=false', '--get', 'core.sparseCheckout']
  const isSparse =
    lines.some((line) => line.startsWith('S')) &&
    runGit(tree, ['config', ...setting]).trim() === 'true'
  // Files outside a sparse checkout do not exist on disk.
  const isMeantToBe = (path: string) =>
    isSparse && !existsSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from(path, encoding)]))
  return lines
    .filter((line) => /^[a-z]/.test(line) || (line.startsWith('S') && !isMeantToBe(line.slice(2))))
    .map((line) => line.slice(2))
}

/** The user's own checkout. It must be clean, so that the agent's work does not mix with the user's. */
export function treeInPlace(paths: ProjectPaths): RunTree {
  const { worktree } = requireRepository(paths)
  const { branch, commit } = requireHead(worktree)
  if (branch === undefined) {
    throw new StintError(
      'NO_BRANCH',
      'this checkout is on no branch, so that commits would belong to none',
      'git switch -c NAME, or leave --in-place away',
    )
  }
  const dirty = uncommittedPaths(worktree)
  if (dirty.length > 0) {
    const count = dirty.length === 1 ? '1 path is' : `${dirty.length} paths are`
    throw new StintError(
      'TREE_DIRTY',
      `${count} not committed: ${dirty.slice(0, 5).join(', ')}`,
      'commit or stash them, or leave --in-place away',
    )
  }
  return { tree: worktree, branch, base: commit, isInPlace: true }
}

/** A worktree on a new branch from HEAD or `from`, or on an existing branch that is not checked out. */
export function createRunTree(
  paths: ProjectPaths,
  run: string,
  wanted: string | undefined,
  { name = `run-${shortId(run)}`, from }: { readonly name?: string; readonly from?: string } = {},
): RunTree {
  const { worktree } = requireRepository(paths)
  const commit = from ?? requireHead(worktree).commit
  const branch = wanted ?? `stint/${name}`
  if (!gitSucceeds(worktree, ['check-ref-format', '--branch', branch])) {
    throw new StintError(
      'BAD_BRANCH',
      `"${branch}" is no name for a branch`,
      'give another with --branch',
    )
  }
  const tree = join(worktreesFolder(paths), name)
  createFolder(join(tree, '..'))
  const isThere = branchTip(worktree, branch) !== undefined
  try {
    const what = isThere ? [tree, branch] : ['-b', branch, tree, commit]
    writeGit(worktree, ['worktree', 'add', '--quiet', ...what], { hasHooks: true })
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    // A failing user hook makes git fail but keep what it created.
    if (repositoryAt(tree) !== undefined)
      writeGit(worktree, ['worktree', 'remove', '--force', tree])
    if (!isThere && branchTip(worktree, branch) === commit)
      writeGit(worktree, ['branch', '--quiet', '-D', branch])
    throw new StintError(
      'NO_WORKTREE',
      `no worktree for ${branch}: ${error.stderr.trim() || error.message}`,
      'choose another branch with --branch, or work with --in-place',
    )
  }
  return { tree, branch, base: isThere ? requireHead(tree).commit : commit, isInPlace: false }
}

export function requireHead(tree: string): { readonly branch?: string; readonly commit: string } {
  const repository = findRepository(tree)
  const head = repository === undefined ? {} : readHead(repository)
  if (head.commit !== undefined) return { ...head, commit: head.commit }
  throw new StintError(
    'NO_COMMIT',
    'this repository has no commit yet, so that there is nothing to work from',
    'git add -A && git commit -m start',
  )
}

/** HEAD wherever the agent left it; undefined if the folder is no longer a worktree. */
export function readTreeHead(tree: string): Head | undefined {
  const repository = repositoryAt(tree)
  return repository === undefined ? undefined : readHead(repository)
}

/** The repository whose worktree root is this folder, not one that contains it. */
export function repositoryAt(tree: string): Repository | undefined {
  if (!existsSync(tree)) return undefined
  const repository = findRepository(tree)
  return repository?.worktree === realpathSync.native(tree) ? repository : undefined
}

/** Whether a run may work there: a worktree in our own folder that git knows as one of this repository, or the user's checkout. */
export function isOwnTree(
  paths: ProjectPaths,
  { tree, isInPlace }: Pick<RunTree, 'tree' | 'isInPlace'>,
): boolean {
  const { commonDir, mainRoot } = requireRepository(paths)
  if (!isInPlace && join(worktreesFolder(paths), basename(tree)) !== tree) return false
  const kind = lstatSync(tree, { throwIfNoEntry: false })
  // It can be created again.
  if (kind === undefined) return true
  if (!kind.isDirectory()) return false
  const dotGit = lstatSync(join(tree, '.git'), { throwIfNoEntry: false })
  if (dotGit === undefined) return !isInPlace
  const repository = repositoryAt(tree)
  if (repository?.commonDir !== commonDir) return false
  if (repository.gitDir === commonDir) return isInPlace && repository.worktree === mainRoot
  // An agent can write a `.git` file that leads elsewhere, but not the entry that leads back.
  const back = readOrUndefined(join(repository.gitDir, 'gitdir'))?.toString('utf8').trim() ?? ''
  return (
    dotGit.isFile() &&
    dirname(repository.gitDir) === join(commonDir, 'worktrees') &&
    back !== '' &&
    sameFile(resolve(repository.gitDir, back), join(tree, '.git'))
  )
}

export function requireOwnTree(
  paths: ProjectPaths,
  own: Pick<RunTree, 'tree' | 'isInPlace'>,
): void {
  if (isOwnTree(paths, own)) return
  throw new StintError(
    'NOT_OUR_TREE',
    `${own.tree} is not a worktree that Stint made for this repository, so nothing is done in it`,
    `git worktree list shows those of this repository; git worktree repair ${own.tree} mends one that was moved`,
  )
}

export function describeHead(head: Head | undefined): string {
  if (head === undefined) return 'nowhere: this is no worktree any more'
  if (head.branch === undefined) return `no branch, at ${head.commit?.slice(0, 10) ?? 'no commit'}`
  return head.commit === undefined ? `${head.branch}, a branch without a commit` : head.branch
}

export function branchTip(tree: string, branch: string): string | undefined {
  const repository = findRepository(tree)
  return repository === undefined ? undefined : commitOfRef(repository, `refs/heads/${branch}`)
}

export function restoreTree(
  paths: ProjectPaths,
  tree: string,
  branch: string,
  otherwise: string,
): void {
  requireOwnTree(paths, { tree, isInPlace: false })
  const repository = requireRepository(paths)
  const isGone = commitOfRef(repository, `refs/heads/${branch}`) === undefined
  const add = isGone ? ['-b', branch, tree, otherwise] : [tree, branch]
  try {
    // The files are still there, but `.git` is gone.
    if (existsSync(tree)) writeGit(repository, ['worktree', 'repair', tree])
    else {
      writeGit(repository, ['worktree', 'prune'])
      writeGit(repository, ['worktree', 'add', '--quiet', ...add], { hasHooks: true })
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

/** Changes whenever a file in the tree changes. */
export function treeFingerprint(tree: string): string {
  const head = readTreeHead(tree)
  if (head === undefined) return 'no worktree'
  const changes = gitStatus(tree, { hasFilters: true })
  const isComparable = changes !== '' && head.commit !== undefined
  const diff = isComparable ? runGit(tree, ['diff', 'HEAD'], { hasFilters: true }) : ''
  // Neither status nor diff shows the content of untracked files.
  const untracked = pathsInStatus(changes, IGNORED_PATHS)
    .slice(0, 2000)
    .map((path) => lstatSync(join(tree, path), { throwIfNoEntry: false }))
    .map((found) => `${found?.size} ${found?.mtimeMs}`)
  return createHash('sha256')
    .update([head.branch, head.commit, changes, diff, ...untracked].join('\0'))
    .digest('hex')
}

export function commitsSince(
  tree: string,
  base: string,
): { readonly count: number; readonly containsBase: boolean } {
  const range = `${base}...${requireHead(tree).commit}`
  const counts = runGit(tree, ['rev-list', '--count', '--left-right', range, '--'])
  const [lost, count] = counts.split('\t').map(Number)
  return { count: count!, containsBase: lost === 0 }
}

export function newCommits(tree: string, base: string) {
  return commitsIn(tree, `${base}..HEAD`)
}

/** The newest commits of a range, oldest first. */
export function commitsIn(place: GitPlace, range: string) {
  return runGit(place, ['log', '--reverse', '--max-count=50', '--format=%H %s', range, '--'])
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1),
    }))
}
