import { GitFailed, runGit } from '../git/run-git.ts'
import { readOpenSessions, writeOpenSession } from '../project/store/open-sessions.ts'
import { defined } from '../text/defined.ts'
import type { SessionContext } from './session-context.ts'

const MOST_COMMITS = 10
const PATIENCE_MS = 400

/**
 * Records commits made since the session last saw git. It follows to another branch only where work continues there: a
 * checkout in another terminal, or a detached head in the middle of a rebase, does not take a session off its branch.
 */
export function recordGitChanges(context: SessionContext, { follows = false } = {}): void {
  const { repository } = context.place
  if (context.session === undefined || repository === undefined) return
  const { branch, commit } = context.head
  const known = context.state.git
  if (branch === known.branch && commit === known.commit) return
  if (branch === known.branch && commit !== undefined && known.commit !== undefined) {
    for (const made of commitsBetween(repository.worktree, known.commit, commit)) {
      context.record(
        'commit.made',
        { ...made, git: { ...context.head, commit: made.commit } },
        `commit:${made.commit}`,
      )
    }
  }
  const isAnother = branch !== known.branch
  if (isAnother && (!follows || branch === undefined)) return
  // A branch that has a session of its own is not taken over by one that was found there.
  if (!isFree(context)) return
  context.record('git.observed', { git: context.head })
  const open = { ...context.state, ...defined({ branch }) }
  if (isAnother) context.attempt(() => writeOpenSession(context.place, open))
}

function isFree(context: SessionContext): boolean {
  const { branch } = context.head
  if (branch === context.state.branch) return true
  return !readOpenSessions(context.place).some(
    (open) => open.id !== context.state.id && open.status === 'active' && open.branch === branch,
  )
}

/** Oldest first. Empty after a rebase, which brings no new work. */
function commitsBetween(
  worktree: string,
  from: string,
  to: string,
): readonly { commit: string; subject: string }[] {
  try {
    const range = [
      'log',
      '--first-parent',
      '--format=%H%x09%s',
      '--reverse',
      `--max-count=${MOST_COMMITS}`,
      `${from}..${to}`,
      '--',
    ]
    return runGit(worktree, range, { timeoutMs: PATIENCE_MS })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({
        commit: line.slice(0, line.indexOf('\t')),
        subject: line.slice(line.indexOf('\t') + 1),
      }))
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return []
  }
}
