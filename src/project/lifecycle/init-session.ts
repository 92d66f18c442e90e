import { rememberProject } from '../../index/projects.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import { cleanText, oneLine, slug } from '../../text/clean.ts'
import { linkDrafts, refreshTasks, resolveTasks, unusedName } from '../tasks/project-backlog.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import { bindConversation } from '../store/conversation-binding.ts'
import { endSession } from './pause-and-close.ts'
import { refuseInRun } from '../store/run-environment.ts'
import type { SessionReading } from '../store/live-session.ts'
import { announceSession, whileOpening } from '../store/open-sessions.ts'
import { isRefusedJournal } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface InitOptions {
  readonly name?: string
  readonly goal?: string
  readonly title?: string
  /** By id or short name. */
  readonly tasks?: readonly string[]
  /** Closes the active session instead of refusing. */
  readonly force?: boolean
  readonly by?: string
}

/** `more` is appended with the opening entry in one write. `closed` is the session that `force` closed. */
export async function initSession(
  workspace: Workspace,
  options: InitOptions,
  more: readonly EntryDraft[] = [],
): Promise<{ readonly reading: SessionReading; readonly closed?: string }> {
  const { force = false, by = 'library' } = options
  if (force) refuseInRun(workspace, 'closing a session by init --force')
  workspace.prepare()
  const tasks = await resolveTasks(workspace, options.tasks ?? [])
  const [task] = tasks
  const goal = cleanText(options.goal ?? task?.title ?? '').trim()
  const nameSource = options.name ?? task?.shortname ?? goal
  if (oneLine(nameSource) === '')
    throw new StintError(
      'NEEDS_NAME',
      'a session needs a name',
      'give --name NAME, --goal TEXT or --task ID',
    )
  const git = workspace.git({ dirty: true })
  const { paths, worktree } = workspace
  const title = oneLine(options.title ?? '') || task?.title || undefined
  // No other process opens a session for this branch from here on.
  const { session, closed } = await whileOpening(paths, git?.branch, async () => {
    const open = workspace.hasSessions() ? [...(await workspace.index()).openSessions()] : []
    const name = unusedName(
      slug(withoutSecrets(nameSource, workspace.config)),
      open.map((row) => row.name),
    )
    if (options.name !== undefined && name !== options.name)
      workspace.say(`the session is named ${name}`)
    const closed = await closeActive(workspace, name, force, by)
    const session = workspace.session(mintId(undefined))
    const steps = tasks.length === 1 ? task!.checklist : []
    // Hooks may search for it before the views are rendered.
    announceSession(paths, {
      id: session.id,
      name,
      status: 'active',
      ...defined({ branch: git?.branch, worktree }),
      updatedAt: new Date().toISOString(),
    })
    session.create([
      draftEntry('session.opened', { name, goal, ...defined({ title, git, worktree }) }, { by }),
      ...linkDrafts(tasks, by),
      ...steps.flatMap(({ item, done }) => stepDrafts(item, done, session.mint(), by)),
      ...more,
    ])
    return { session, closed }
  })
  bindConversation(workspace, session.id)
  rememberProject(paths.root)
  const reading = await workspace.refreshIfPossible(session)
  await refreshTasks(workspace, reading.state.tasks)
  session.close()
  return { reading, ...defined({ closed }) }
}

function stepDrafts(text: string, isDone: boolean, id: string, by: string) {
  const added = draftEntry('step.added', { text }, { id, by })
  return isDone ? [added, draftEntry('step.done', { step: id }, { by })] : [added]
}

/** A second active session on a branch would make every command ambiguous. */
async function closeActive(workspace: Workspace, name: string, force: boolean, by: string) {
  if (!workspace.hasSessions()) return undefined
  const branch = workspace.git()?.branch
  const active = [...(await workspace.index()).sessions({ status: ['active'] })].filter(
    (row) =>
      row.branch === branch &&
      row.worktree === workspace.worktree &&
      !isRefusedJournal(workspace.paths, row.id),
  )
  const [first] = active
  if (first === undefined) return undefined
  if (!force)
    throw new StintError(
      'SESSION_ACTIVE',
      `${first.name} is active ${branch === undefined ? 'here' : `on ${branch}`}`,
      'stint resume goes on with it, stint pause sets it down, stint init --force closes it',
    )
  const reason = `closed by init --force for ${name}`
  for (const { id } of active)
    await endSession(workspace, id, () => ({ how: 'abandoned', reason, by }))
  return first.name
}
