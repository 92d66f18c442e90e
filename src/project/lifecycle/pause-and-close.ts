import { draftEntry } from '../../session/entries.ts'
import { StintError } from '../../journal/errors.ts'
import { type SessionState, isSessionOpen } from '../../session/state.ts'
import { moveDrafts, refreshTasks } from '../tasks/project-backlog.ts'
import { checkpointDrafts } from './checkpoint.ts'
import { chooseSession, findSession } from '../store/choose-session.ts'
import { refuseInRun } from '../store/run-environment.ts'
import type { SessionReading } from '../store/live-session.ts'
import { type Resumed, resumeSession } from './resume.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface PauseOptions {
  readonly session?: string
  readonly note?: string
  /** A session to resume instead. */
  readonly switchTo?: string
  readonly keepTaskStatus?: boolean
  readonly by?: string
}

export async function pauseSession(
  workspace: Workspace,
  { session: name, note, switchTo, keepTaskStatus, by = 'library' }: PauseOptions = {},
): Promise<{ readonly reading: SessionReading; readonly resumed?: Resumed }> {
  refuseInRun(workspace, 'pausing a session')
  // Before anything is written: a mistyped name must not leave both sessions paused.
  const other = switchTo === undefined ? undefined : await findSession(workspace, switchTo)
  if (other !== undefined && !isSessionOpen(other)) throw alreadyClosed(other)
  const { id } = await chooseSession(workspace, name)
  const reading = await updateWithTasks(workspace, id, ({ state }, session) => {
    if (state.status === 'paused')
      throw new StintError(
        'SESSION_NOT_ACTIVE',
        `${state.name} is paused already`,
        `stint resume ${state.name} goes on with it`,
      )
    if (!isSessionOpen(state)) throw alreadyClosed(state, 'SESSION_NOT_ACTIVE')
    const git = workspace.git({ dirty: true })
    return [
      ...checkpointDrafts(workspace, session, state, { by, ...defined({ note }) }),
      draftEntry('session.paused', defined({ note, switchTo: other?.id, git }), { by }),
      ...(keepTaskStatus === true ? [] : moveDrafts(state.tasks, 'ready', by)),
    ]
  })
  return other === undefined
    ? { reading }
    : { reading, resumed: await resumeSession(workspace, { session: other.id, by }) }
}

export interface CloseOptions {
  readonly session?: string
  readonly how: 'completed' | 'abandoned'
  readonly reason?: string
  readonly by?: string
}

export async function closeSession(
  workspace: Workspace,
  { session, ...options }: CloseOptions,
): Promise<SessionReading> {
  refuseInRun(workspace, 'closing a session')
  const { id } = await chooseSession(workspace, session)
  return endSession(workspace, id, (state) => {
    if (!isSessionOpen(state)) throw alreadyClosed(state)
    return options
  })
}

export async function endSession(
  workspace: Workspace,
  id: string,
  optionsFor: (state: SessionState) => Omit<CloseOptions, 'session'>,
): Promise<SessionReading> {
  const reading = await updateWithTasks(workspace, id, ({ state }) => {
    const { how, reason, by = 'library' } = optionsFor(state)
    const git = workspace.git({ dirty: true })
    return [
      draftEntry('session.closed', { how, ...defined({ reason, git }) }, { by }),
      ...moveDrafts(state.tasks, how === 'completed' ? 'completed' : 'ready', by),
    ]
  })
  await afterSessionClosed(workspace, reading)
  return reading
}

/** Rarely needed, so loaded here. */
export async function afterSessionClosed(
  workspace: Workspace,
  reading: SessionReading,
): Promise<void> {
  const { updateExportsAfterClose } = await import('../export/export-session.ts')
  await updateExportsAfterClose(workspace, reading)
}

export async function reopenSession(
  workspace: Workspace,
  { session, by = 'library' }: { session: string; by?: string },
): Promise<SessionReading> {
  refuseInRun(workspace, 'reopening a session')
  const { id } = await findSession(workspace, session)
  return updateWithTasks(workspace, id, ({ state }) => {
    if (isSessionOpen(state))
      throw new StintError(
        'SESSION_OPEN',
        `${state.name} is not closed; it is ${state.status}`,
        `stint resume ${state.name} goes on with it`,
      )
    return [
      draftEntry('session.reopened', defined({ git: workspace.git() }), { by }),
      ...moveDrafts(state.tasks, 'in_progress', by),
    ]
  })
}

async function updateWithTasks(
  workspace: Workspace,
  id: string,
  draftsFor: Parameters<Workspace['update']>[1],
) {
  const { reading } = await workspace.update(id, draftsFor)
  await refreshTasks(workspace, reading.state.tasks)
  return reading
}

function alreadyClosed(
  { name, status }: Pick<SessionState, 'name' | 'status'>,
  code = 'SESSION_CLOSED',
) {
  return new StintError(
    code,
    `${name} is ${status} already`,
    `stint reopen ${name} takes that back`,
  )
}
