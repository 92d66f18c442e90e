import { readHead } from './head.ts'
import { type Repository, findRepository } from './repository.ts'
import { defined } from '../text/defined.ts'
import { type GitOptions, gitSucceeds, runGit, unlessGitFails } from './run-git.ts'
import { DEFAULT_EXCLUDE } from './working-tree.ts'

/** How far a worktree has moved from a commit. */
export interface Drift {
  readonly from: string
  readonly to?: string
  readonly commits: number
  readonly subjects: readonly string[]
  /** `kept`: HEAD builds on `from`. `elsewhere`: another branch does. `rewritten`: no branch does. `missing`: the commit is not in this repository. */
  readonly history: 'kept' | 'elsewhere' | 'rewritten' | 'missing'
  readonly branchThen?: string
  readonly branchNow?: string
  readonly hasBranchChanged: boolean
  readonly dirty: number
}

const MAX_SUBJECTS = 10
const OBJECT_NAME = /^[0-9a-f]{4,64}$/

export function dirtyPaths(
  worktree: string,
  exclude = DEFAULT_EXCLUDE,
  options: GitOptions = {},
): string[] {
  return pathsInStatus(gitStatus(worktree, options), exclude)
}

export function gitStatus(worktree: string, options: GitOptions = {}): string {
  return runGit(
    worktree,
    ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'],
    options,
  )
}

export function pathsInStatus(changes: string, exclude = DEFAULT_EXCLUDE): string[] {
  const paths = changes
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice('XY '.length))
  return paths.filter(
    (path) => !exclude.some((folder) => path === folder || path.startsWith(`${folder}/`)),
  )
}

export function measureDrift(
  worktree: string,
  fromCommit: string,
  then: { readonly branch?: string } = {},
): Drift {
  const repository = findRepository(worktree)
  const { commit: to, branch: branchNow } = repository === undefined ? {} : readHead(repository)
  const history = historyOf(worktree, fromCommit, to)
  const runOnRange = (...args: readonly string[]) =>
    history === 'missing' || to === undefined
      ? ''
      : runGit(worktree, [...args, `${fromCommit}..${to}`, '--'])
  const subjects = runOnRange('log', '--format=%s', `--max-count=${MAX_SUBJECTS}`)
  return {
    from: fromCommit,
    ...defined({ to }),
    commits: Number(runOnRange('rev-list', '--count')),
    subjects: subjects.split('\n').filter((subject) => subject !== ''),
    history,
    ...defined({ branchThen: then.branch, branchNow }),
    // Without a recorded branch, a change cannot be known.
    hasBranchChanged: then.branch !== undefined && then.branch !== branchNow,
    dirty: dirtyPaths(worktree).length,
  }
}

function historyOf(worktree: string, from: string, head: string | undefined) {
  if (!OBJECT_NAME.test(from) || !hasCommit(worktree, from)) return 'missing'
  if (head !== undefined && gitSucceeds(worktree, ['merge-base', '--is-ancestor', from, head]))
    return 'kept'
  const refs = ['refs/heads', 'refs/remotes', 'refs/tags']
  const holders = runGit(worktree, ['for-each-ref', '--count=1', '--contains', from, ...refs])
  return holders.trim() === '' ? 'rewritten' : 'elsewhere'
}

function hasCommit(worktree: string, commit: string) {
  const printed = unlessGitFails(
    () => runGit(worktree, ['cat-file', '-e', `${commit}^{commit}`]),
    (status) => status !== undefined,
  )
  return printed !== undefined
}

export function isTracked(root: string, path: string): boolean {
  return gitSucceeds(root, ['ls-files', '--error-unmatch', '--', path], {
    env: { GIT_LITERAL_PATHSPECS: '1' },
  })
}

export interface GitTrace {
  readonly text: string
  readonly where: string
  readonly at: string
}

const MAX_COMMITS = 5000

export function commitTraces({ worktree }: Repository): readonly GitTrace[] {
  const all = ['--exclude=refs/stint/*', '--all', '--date-order', `--max-count=${MAX_COMMITS}`]
  const format = ['--no-show-signature', '--format=%h%x00%ct%x00%s']
  return parseTraces(runGit(worktree, ['log', ...all, ...format]))
}

export function branchTraces({ worktree }: Repository): readonly GitTrace[] {
  const format = '--format=%(refname)%00%(committerdate:unix)%00%(refname:short)'
  return parseTraces(runGit(worktree, ['for-each-ref', format, 'refs/heads', 'refs/remotes']))
}

export function checkpointTraces({ worktree }: Repository): readonly GitTrace[] {
  const format = '--format=%(refname)%00%(committerdate:unix)%00%(subject)'
  return parseTraces(runGit(worktree, ['for-each-ref', format, 'refs/stint']))
}

function parseTraces(printed: string) {
  return printed.split('\n').flatMap((line) => {
    const [where = '', seconds = '', text = ''] = line.split('\0')
    // A dangling symbolic ref has no time.
    return /^\d+$/.test(seconds)
      ? [{ where, text, at: new Date(Number(seconds) * 1000).toISOString() }]
      : []
  })
}
