import { type Drift, measureDrift } from '../../git/status.ts'
import { effectiveEntries } from '../../session/effective-entries.ts'
import { draftEntry } from '../../session/entries.ts'
import { NotWritten, OutcomeUnknown, StintError } from '../../journal/errors.ts'
import type { SessionState } from '../../session/state.ts'
import { moveDrafts, refreshTasks } from '../tasks/project-backlog.ts'
import {
  NoSession,
  foreignSessions,
  findActiveSession,
  findSession,
  refuseClosed,
} from '../store/choose-session.ts'
import { bindConversation, sessionOfConversation } from '../store/conversation-binding.ts'
import type { SessionReading } from '../store/live-session.ts'
import { startFirstStep } from './record.ts'
import { ForeignJournal } from '../../journal/log.ts'
import { isRefusedJournal, logPaths } from '../store/project-paths.ts'
import { type Workspace, hasHeadMoved } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { type ProjectContext, loadProjectContext } from '../../context/survey/project-context.ts'
import { withoutSecrets } from '../store/clean-draft.ts'

export interface ResumeOptions {
  readonly session?: string
  /** The most recent session, whichever is active. */
  readonly last?: boolean
  readonly by?: string
  readonly withProject?: boolean
}

export interface Resumed {
  readonly reading: SessionReading
  /** What git did since the last entry. */
  readonly drift?: Drift
  readonly before: SessionState
  readonly project?: string
}

export async function resumeSession(
  workspace: Workspace,
  options: ResumeOptions = {},
): Promise<Resumed> {
  const { by = 'library' } = options
  const { id } = await chooseToResume(workspace, options)
  if (isRefusedJournal(workspace.paths, id))
    throw new ForeignJournal(logPaths(workspace.paths, id).path)
  return workspace.withSession(id, async (session) => {
    const { state: before, entries } = await workspace.absorbEdits(session)
    refuseClosed(before)
    bindConversation(workspace, id)
    const since = driftSince(workspace, before)
    const git = await gitToBind(workspace, id)
    const isPaused = before.status === 'paused'
    const last = effectiveEntries(entries).at(-1)?.kind
    if (isPaused || hasHeadMoved(before, git) || last !== 'session.resumed') {
      const data = defined({ git, worktree: workspace.worktree })
      const mint = () => session.mint()
      try {
        session.append([
          draftEntry('session.resumed', data, { by, id: mint() }),
          ...startFirstStep(before, by, mint),
          ...(isPaused ? moveDrafts(before.tasks, 'in_progress', by) : []),
        ])
      } catch (error) {
        // A full disk must not keep the user from resuming.
        if (!(error instanceof NotWritten || error instanceof OutcomeUnknown)) throw error
        workspace.say(`that it was resumed is not recorded: ${error.message}`)
      }
    }
    const reading = await workspace.refreshIfPossible(session)
    if (isPaused) await refreshTasks(workspace, before.tasks)
    const project = options.withProject === true ? projectText(workspace) : undefined
    return { reading, before, ...defined({ drift: since, project }) }
  })
}

/** Undefined where another session is bound: two there would make every command ambiguous. */
async function gitToBind(workspace: Workspace, id: string) {
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
  { session, last = false }: ResumeOptions,
): Promise<{ id: string }> {
  const wanted = session ?? workspace.env.STINT_SESSION
  if (wanted !== undefined && wanted !== '') return findSession(workspace, wanted)
  const current = last
    ? undefined
    : (sessionOfConversation(workspace) ?? (await findActiveSession(workspace)))
  if (current !== undefined) return current
  const start = 'stint init --name NAME --goal TEXT starts one'
  if (!workspace.hasSessions()) throw new NoSession('there are no sessions here', start)
  const index = await workspace.index()
  const open = [...index.sessions({ status: ['active', 'paused'] })]
  const latest = open.find((row) => !isRefusedJournal(workspace.paths, row.id))
  if (latest !== undefined) return latest
  if (open.length > 0) throw foreignSessions(open.length)
  const [closed] = index.sessions({ limit: 1 })
  const hint =
    closed === undefined
      ? start
      : `the last one, ${closed.name}, is ${closed.status}: stint reopen ${closed.name}`
  throw new NoSession('no session is active or paused here', hint)
}

function driftSince(workspace: Workspace, { git }: SessionState) {
  const { repository } = workspace.paths
  const { commit, branch } = git
  if (repository === undefined || commit === undefined) return undefined
  return workspace.unlessGitFails('what git did meanwhile is not known', () =>
    measureDrift(repository.worktree, commit, defined({ branch })),
  )
}

export function readRepositoryContext(
  { paths: { repository }, config }: Workspace,
  options: { refresh?: boolean } = {},
): ProjectContext {
  if (repository === undefined)
    throw new StintError(
      'NO_REPOSITORY',
      'there is no git repository here to read',
      'git init, then git add what belongs to it',
    )
  return loadProjectContext(repository, {
    ...options,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
}

export function projectText(workspace: Workspace): string | undefined {
  if (workspace.paths.repository === undefined) return undefined
  return workspace.unlessGitFails(
    'what the repository is could not be read',
    () => readRepositoryContext(workspace).text,
  )
}
