import type { Repository } from './repository.ts'
import { runGit } from './run-git.ts'

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
