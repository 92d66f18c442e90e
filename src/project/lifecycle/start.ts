import { rememberProject } from '../../index/projects.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { type Draft, draft } from '../../session/entries.ts'
import { cleanText, oneLine, slug } from '../../text/clean.ts'
import { linkDrafts, refreshTasks, resolveTasks } from '../tasks/backlog.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import { bindConversation } from '../store/conversation-binding.ts'
import { endDrafts, followClose } from './finish.ts'
import { refuseInRun } from '../store/in-run.ts'
import type { Reading } from '../store/live-session.ts'
import { announceSession, whileOpening } from '../store/open-sessions.ts'
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

export interface Initialized {
  readonly reading: Reading
  /** The session that `force` closed. */
  readonly closed?: string
}

/** `more` is written in one piece with the session's beginning. */
export async function initSession(
  workspace: Workspace,
  options: InitOptions,
  more: readonly Draft[] = [],
): Promise<Initialized> {
  if (options.force === true) refuseInRun(workspace, 'closing a session by init --force')
  workspace.prepare()
  const tasks = await resolveTasks(workspace, options.tasks ?? [])
  const goal = cleanText(options.goal ?? tasks[0]?.title ?? '').trim()
  const wanted = options.name ?? tasks[0]?.shortname ?? goal
  if (oneLine(wanted) === '') {
    throw new StintError(
      'NEEDS_NAME',
      'a session needs a name',
      'give --name NAME, --goal TEXT or --task ID',
    )
  }
  const by = options.by ?? 'library'
  const git = workspace.git({ dirty: true })
  const title = oneLine(options.title ?? '') || (tasks[0]?.title ?? '')
  // No other process opens a session for this branch from here on.
  const { session, closed } = await whileOpening(workspace.place, git?.branch, async () => {
    const name = await freeName(workspace, slug(withoutSecrets(wanted, workspace.config)))
    if (options.name !== undefined && name !== options.name)
      workspace.say(`the session is named ${name}`)
    const room = await makeRoom(workspace, name, options)
    const worktree = workspace.worktree
    const told = { name, goal, ...(title === '' ? {} : { title }), ...defined({ git, worktree }) }
    const made = workspace.session(mintId(undefined))
    const steps: Draft[] =
      tasks.length === 1
        ? tasks[0]!.checklist.flatMap(({ item, done }) => stepDrafts(item, done, made.mint(), by))
        : []
    // Hooks may look for it before the views are rendered.
    const where = defined({ branch: git?.branch, worktree })
    announceSession(workspace.place, {
      id: made.id,
      name,
      status: 'active',
      ...where,
      updatedAt: new Date().toISOString(),
    })
    made.create([
      draft('session.opened', told, { by }),
      ...linkDrafts(tasks, by),
      ...steps,
      ...more,
    ])
    return { session: made, closed: room }
  })
  bindConversation(workspace, session.id)
  rememberProject(workspace.place.root)
  const reading = await workspace.refreshIfPossible(session)
  await refreshTasks(workspace, reading.state.tasks)
  session.close()
  return closed === undefined ? { reading } : { reading, closed }
}

function stepDrafts(text: string, isDone: boolean, id: string, by: string): readonly Draft[] {
  const added = draft('step.added', { text }, { id, by })
  return isDone ? [added, draft('step.done', { step: id }, { by })] : [added]
}

async function freeName(workspace: Workspace, name: string): Promise<string> {
  if (!workspace.hasSessions()) return name
  const taken = new Set([...(await workspace.index()).openSessions()].map((row) => row.name))
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

/** A second active session on a branch would make every command ambiguous. */
async function makeRoom(
  workspace: Workspace,
  name: string,
  options: InitOptions,
): Promise<string | undefined> {
  if (!workspace.hasSessions()) return undefined
  const branch = workspace.git()?.branch
  const active = [...(await workspace.index()).sessions({ status: ['active'] })]
  const standing = active.filter(
    (row) => row.branch === branch && row.worktree === workspace.worktree,
  )
  const [first] = standing
  if (first === undefined) return undefined
  if (options.force !== true) {
    throw new StintError(
      'SESSION_ACTIVE',
      `${first.name} is active ${branch === undefined ? 'here' : `on ${branch}`}`,
      'stint resume goes on with it, stint pause sets it down, stint init --force closes it',
    )
  }
  for (const row of standing) {
    const session = workspace.session(row.id)
    const { reading: after } = await workspace.update(session, ({ state }) =>
      endDrafts(workspace, state, 'abandoned', {
        reason: `closed by init --force for ${name}`,
        by: options.by ?? 'library',
      }),
    )
    await refreshTasks(workspace, after.state.tasks)
    session.close()
    await followClose(workspace, after)
  }
  return first.name
}
