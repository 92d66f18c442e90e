import { readHead } from './head.ts'
import { type Repository, findRepository } from './repository.ts'
import { GitFailed, type GitOptions, askGit, runGit } from './run-git.ts'
import { DEFAULT_EXCLUDE } from './working-tree.ts'

/** How far a worktree has moved from a commit. */
export interface Drift {
  readonly from: string
  readonly to?: string
  /** Commits in HEAD that were not in the history of `from`. */
  readonly commits: number
  readonly subjects: readonly string[]
  /** `kept`: HEAD builds on `from`. `elsewhere`: another branch does. `rewritten`: no branch does. `missing`: the commit is not in this repository. */
  readonly history: 'kept' | 'elsewhere' | 'rewritten' | 'missing'
  readonly branchThen?: string
  readonly branchNow?: string
  readonly hasBranchChanged: boolean
  readonly dirty: number
}

const SUBJECTS = 10
const OBJECT_NAME = /^[0-9a-f]{4,64}$/

export function dirtyPaths(
  worktree: string,
  exclude = DEFAULT_EXCLUDE,
  options: GitOptions = {},
): string[] {
  return pathsIn(changesIn(worktree, options), exclude)
}

export function changesIn(worktree: string, options: GitOptions = {}): string {
  return runGit(
    worktree,
    ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'],
    options,
  )
}

export function pathsIn(changes: string, exclude = DEFAULT_EXCLUDE): string[] {
  const paths = changes
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice('XY '.length))
  return paths.filter(
    (path) => !exclude.some((folder) => path === folder || path.startsWith(`${folder}/`)),
  )
}

export function drift(
  worktree: string,
  fromCommit: string,
  then: { readonly branch?: string } = {},
): Drift {
  const repository = findRepository(worktree)
  const head = repository === undefined ? {} : readHead(repository)
  const history = historyOf(worktree, fromCommit, head.commit)
  const range =
    history === 'missing' || head.commit === undefined ? undefined : `${fromCommit}..${head.commit}`
  const subjects =
    range === undefined
      ? ''
      : runGit(worktree, ['log', '--format=%s', `--max-count=${SUBJECTS}`, range, '--'])
  return {
    from: fromCommit,
    ...(head.commit !== undefined && { to: head.commit }),
    commits:
      range === undefined ? 0 : Number(runGit(worktree, ['rev-list', '--count', range, '--'])),
    subjects: subjects.split('\n').filter((subject) => subject !== ''),
    history,
    ...(then.branch !== undefined && { branchThen: then.branch }),
    ...(head.branch !== undefined && { branchNow: head.branch }),
    // A branch that was not recorded is not known to have been another.
    hasBranchChanged: then.branch !== undefined && then.branch !== head.branch,
    dirty: dirtyPaths(worktree).length,
  }
}

function historyOf(worktree: string, from: string, head: string | undefined) {
  if (!OBJECT_NAME.test(from) || !hasCommit(worktree, from)) return 'missing'
  if (head !== undefined && askGit(worktree, ['merge-base', '--is-ancestor', from, head]))
    return 'kept'
  const holders = runGit(worktree, [
    'for-each-ref',
    '--count=1',
    '--contains',
    from,
    'refs/heads',
    'refs/remotes',
    'refs/tags',
  ])
  return holders.trim() === '' ? 'rewritten' : 'elsewhere'
}

function hasCommit(worktree: string, commit: string) {
  try {
    runGit(worktree, ['cat-file', '-e', `${commit}^{commit}`])
    return true
  } catch (error) {
    if (error instanceof GitFailed && error.status !== undefined) return false
    throw error
  }
}

export function isTracked(root: string, path: string): boolean {
  return askGit(root, ['ls-files', '--error-unmatch', '--', path], {
    env: { GIT_LITERAL_PATHSPECS: '1' },
  })
}

export interface Trace {
  readonly text: string
  readonly where: string
  readonly at: string
}

const MOST_COMMITS = 5000

export function commitTraces({ worktree }: Repository): readonly Trace[] {
  const format = '--format=%h%x00%ct%x00%s'
  const args = [
    'log',
    '--exclude=refs/stint/*',
    '--all',
    '--date-order',
    `--max-count=${MOST_COMMITS}`,
    '--no-show-signature',
    format,
  ]
  return traces(runGit(worktree, args))
}

export function branchTraces({ worktree }: Repository): readonly Trace[] {
  const format = '--format=%(refname)%00%(committerdate:unix)%00%(refname:short)'
  return traces(runGit(worktree, ['for-each-ref', format, 'refs/heads', 'refs/remotes']))
}

export function checkpointTraces({ worktree }: Repository): readonly Trace[] {
  const format = '--format=%(refname)%00%(committerdate:unix)%00%(subject)'
  return traces(runGit(worktree, ['for-each-ref', format, 'refs/stint']))
}

function traces(printed: string) {
  return printed.split('\n').flatMap((line) => {
    const [where = '', seconds = '', text = ''] = line.split('\0')
    // A symbolic reference to nothing has no time.
    return /^\d+$/.test(seconds)
      ? [{ where, text, at: new Date(Number(seconds) * 1000).toISOString() }]
      : []
  })
}
