import { type Drift, drift } from '../../git/status.ts'
import { GitFailed } from '../../git/run-git.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import { type Draft, type GitState, draft } from '../../session/entries.ts'
import { NotWritten, OutcomeUnknown, StintError } from '../../journal/errors.ts'
import { type SessionState, isOpen } from '../../session/state.ts'
import { moveDrafts, refreshTasks } from '../tasks/backlog.ts'
import { NoSession, activeSession, findSession } from '../store/choose.ts'
import { bindConversation, sessionOfConversation } from '../store/conversation-binding.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import { startFirst } from './record.ts'
import { type Workspace, hasMoved } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { type ProjectContext, projectContext } from '../../context/survey/project-context.ts'
import { withoutSecrets } from '../store/clean-draft.ts'

export interface ResumeOptions {
  readonly session?: string
  /** The session worked on last, whichever is active. */
  readonly last?: boolean
  readonly by?: string
  readonly withProject?: boolean
}

export interface Resumed {
  readonly reading: Reading
  /** What git did since the last entry. */
  readonly drift?: Drift
  /** The state before resuming. */
  readonly before: SessionState
  readonly project?: string
}

export async function resumeSession(
  workspace: Workspace,
  options: ResumeOptions,
): Promise<Resumed> {
  const row = await chooseToResume(workspace, options)
  const session = workspace.session(row.id)
  const before = (await workspace.absorbEdits(session)).state
  if (!isOpen(before)) {
    throw new StintError(
      'SESSION_CLOSED',
      `${before.name} is ${before.status}`,
      `stint reopen ${before.name} takes that back`,
    )
  }
  bindConversation(workspace, row.id)
  const since = driftSince(workspace, before)
  const by = options.by ?? 'library'
  const git = await placeToBind(workspace, row.id)
  const isNews =
    before.status === 'paused' ||
    hasMoved(before, git) ||
    lastKind(session.read().entries) !== 'session.resumed'
  if (isNews) {
    const { worktree } = workspace
    const data = {
      ...defined({ git, worktree }),
    }
    const tasks = before.status === 'paused' ? moveDrafts(before.tasks, 'in_progress', by) : []
    appendIfPossible(workspace, session, [
      draft('session.resumed', data, { by, id: session.mint() }),
      ...startFirst(before, by, () => session.mint()),
      ...tasks,
    ])
  }
  const reading = await workspace.refreshIfPossible(session)
  if (before.status === 'paused') await refreshTasks(workspace, before.tasks)
  session.close()
  const project = options.withProject === true ? projectText(workspace) : undefined
  return {
    reading,
    before,
    ...defined({ drift: since, project }),
  }
}

/** A full disk must not keep the user from resuming. */
function appendIfPossible(
  workspace: Workspace,
  session: LiveSession,
  drafts: readonly Draft[],
): void {
  try {
    session.append(drafts)
  } catch (error) {
    if (!(error instanceof NotWritten || error instanceof OutcomeUnknown)) throw error
    workspace.say(`that it was resumed is not recorded: ${error.message}`)
  }
}

/** Undefined where another session is bound: two there would make every command ambiguous. */
async function placeToBind(workspace: Workspace, id: string): Promise<GitState | undefined> {
  const git = workspace.git()
  if (git === undefined) return undefined
  const active = [...(await workspace.index()).sessions({ status: ['active'] })]
  const isTaken = active.some(
    (other) =>
      other.id !== id && other.branch === git.branch && other.worktree === workspace.worktree,
  )
  return isTaken ? undefined : git
}

export async function chooseToResume(
  workspace: Workspace,
  options: ResumeOptions,
): Promise<{ id: string }> {
  const wanted = options.session ?? workspace.env.STINT_SESSION
  if (wanted !== undefined && wanted !== '') return findSession(workspace, wanted)
  const own = options.last === true ? undefined : sessionOfConversation(workspace)
  if (own !== undefined) return own
  const active = options.last === true ? undefined : await activeSession(workspace)
  if (active !== undefined) return active
  if (!workspace.hasSessions())
    throw new NoSession(
      'there are no sessions here',
      'stint init --name NAME --goal TEXT starts one',
    )
  const index = await workspace.index()
  const [latest] = index.sessions({ status: ['active', 'paused'], limit: 1 })
  if (latest !== undefined) return latest
  const [closed] = index.sessions({ limit: 1 })
  const hint =
    closed === undefined
      ? 'stint init --name NAME --goal TEXT starts one'
      : `the last one, ${closed.name}, is ${closed.status}: stint reopen ${closed.name}`
  throw new NoSession('no session is active or paused here', hint)
}

function driftSince(workspace: Workspace, state: SessionState): Drift | undefined {
  const { repository } = workspace.place
  const { commit, branch } = state.git
  if (repository === undefined || commit === undefined) return undefined
  try {
    return drift(repository.worktree, commit, branch === undefined ? {} : { branch })
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`what git did meanwhile is not known: ${error.message}`)
    return undefined
  }
}

function lastKind(entries: readonly RawEntry[]): string | undefined {
  return inEffect(entries).at(-1)?.kind
}

export function contextOfProject(
  workspace: Workspace,
  options: { refresh?: boolean } = {},
): ProjectContext {
  const { repository } = workspace.place
  if (repository === undefined) {
    throw new StintError(
      'NO_REPOSITORY',
      'there is no git repository here to read',
      'git init, then git add what belongs to it',
    )
  }
  const { config } = workspace
  return projectContext(repository, {
    ...options,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
}

export function projectText(workspace: Workspace): string | undefined {
  if (workspace.place.repository === undefined) return undefined
  try {
    return contextOfProject(workspace).text
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`what the repository is could not be read: ${error.message}`)
    return undefined
  }
}
