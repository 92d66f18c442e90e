import { GitFailed, runGit } from '../git/run-git.ts'
import { readOpenSessions, writeOpenSession } from '../project/store/open-sessions.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { GIT_TIMEOUT_MS } from './hook-context.ts'
import type { SessionContext } from './session-context.ts'

const MAX_COMMITS = 10
const MAX_BODY_LENGTH = 400

/**
 * Records new commits. The session follows to another branch only if work continues there, not
 * after a checkout in another terminal or on the detached HEAD of a rebase.
 */
export function recordGitChanges(context: SessionContext, { follows = false } = {}): void {
  const { repository } = context.paths
  if (context.session === undefined || repository === undefined) return
  const { branch, commit } = context.head
  const known = context.state.git
  if (branch === known.branch && commit === known.commit) return
  if (branch === known.branch && commit !== undefined && known.commit !== undefined) {
    const gone = commitsBetween(repository.worktree, commit, known.commit)
    const replaces = gone.map((each) => each.commit)
    for (const made of commitsBetween(repository.worktree, known.commit, commit)) {
      const git = { ...context.head, commit: made.commit }
      const data = { ...made, ...(replaces.length === 0 ? {} : { replaces }), git }
      context.record('commit.made', data, `commit:${made.commit}`)
    }
  }
  const isOtherBranch = branch !== known.branch
  if (isOtherBranch && (!follows || branch === undefined)) return
  // A branch with an active session of its own is not taken over.
  if (!isBranchFree(context)) return
  context.record('git.observed', { git: context.head })
  const open = { ...context.state, ...defined({ branch }) }
  if (isOtherBranch) context.attempt(() => writeOpenSession(context.paths, open))
}

function isBranchFree(context: SessionContext): boolean {
  const { branch } = context.head
  if (branch === context.state.branch) return true
  return !readOpenSessions(context.paths).some(
    (open) => open.id !== context.state.id && open.status === 'active' && open.branch === branch,
  )
}

/** Oldest first. */
function commitsBetween(
  worktree: string,
  from: string,
  to: string,
): readonly { commit: string; subject: string; body?: string }[] {
  try {
    const range = [
      'log',
      '--first-parent',
      '--format=%H%x09%s%x09%b%x00',
      '--reverse',
      `--max-count=${MAX_COMMITS}`,
      `${from}..${to}`,
      '--',
    ]
    return runGit(worktree, range, { timeoutMs: GIT_TIMEOUT_MS })
      .split('\0')
      .map((record) => record.trim().split('\t'))
      .filter(([commit]) => commit !== '')
      .map(([commit = '', subject = '', ...body]) => {
        const text = oneLine(body.join(' '))
        return {
          commit,
          subject,
          ...(text === '' ? {} : { body: shorten(text, MAX_BODY_LENGTH) }),
        }
      })
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return []
  }
}
