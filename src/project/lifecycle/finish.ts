import { type Draft, draft } from '../../session/entries.ts'
import { StintError } from '../../journal/errors.ts'
import { type SessionState, type SessionStatus, isOpen } from '../../session/state.ts'
import { moveDrafts, refreshTasks } from '../tasks/backlog.ts'
import { checkpointDrafts } from './checkpoint.ts'
import { chooseSession, findSession } from '../store/choose.ts'
import { refuseInRun } from '../store/in-run.ts'
import type { Reading } from '../store/live-session.ts'
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

export interface Paused {
  readonly reading: Reading
  readonly resumed?: Resumed
}

export async function pauseSession(workspace: Workspace, options: PauseOptions): Promise<Paused> {
  refuseInRun(workspace, 'pausing a session')
  // Before anything is written: a mistyped name must not leave both sessions paused.
  const other =
    options.switchTo === undefined ? undefined : await findSession(workspace, options.switchTo)
  if (other !== undefined && !isOpen(other)) throw closedAlready(other.name, other.status)
  const row = await chooseSession(workspace, options.session)
  const session = workspace.session(row.id)
  const by = options.by ?? 'library'
  const { note } = options
  const { reading } = await workspace.update(session, ({ state }) => {
    if (state.status !== 'active') throw notActive(state)
    const git = workspace.git({ dirty: true })
    return [
      ...checkpointDrafts(workspace, session, state, { by, ...defined({ note }) }),
      draft('session.paused', defined({ note, switchTo: other?.id, git }), { by }),
      ...(options.keepTaskStatus === true ? [] : moveDrafts(state.tasks, 'ready', by)),
    ]
  })
  await refreshTasks(workspace, reading.state.tasks)
  session.close()
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

export async function closeSession(workspace: Workspace, options: CloseOptions): Promise<Reading> {
  refuseInRun(workspace, 'closing a session')
  const row = await chooseSession(workspace, options.session)
  const session = workspace.session(row.id)
  const { how, reason, by = 'library' } = options
  const { reading } = await workspace.update(session, ({ state }) => {
    if (!isOpen(state)) throw closedAlready(state.name, state.status)
    return endDrafts(workspace, state, how, { by, ...defined({ reason }) })
  })
  await refreshTasks(workspace, reading.state.tasks)
  session.close()
  await followClose(workspace, reading)
  return reading
}

/** Rarely needed, so loaded here. */
export async function followClose(workspace: Workspace, reading: Reading): Promise<void> {
  const { afterClose } = await import('../export/export-session.ts')
  await afterClose(workspace, reading)
}

export function endDrafts(
  workspace: Workspace,
  state: SessionState,
  how: 'completed' | 'abandoned',
  options: { reason?: string; by: string },
): readonly Draft[] {
  const git = workspace.git({ dirty: true })
  const closed = draft(
    'session.closed',
    {
      how,
      ...defined({ reason: options.reason, git }),
    },
    { by: options.by },
  )
  return [
    closed,
    ...moveDrafts(state.tasks, how === 'completed' ? 'completed' : 'ready', options.by),
  ]
}

export async function reopenSession(
  workspace: Workspace,
  options: { session: string; by?: string },
): Promise<Reading> {
  refuseInRun(workspace, 'reopening a session')
  const row = await findSession(workspace, options.session)
  const session = workspace.session(row.id)
  const { by = 'library' } = options
  const { reading } = await workspace.update(session, ({ state }) => {
    if (isOpen(state)) {
      throw new StintError(
        'SESSION_OPEN',
        `${state.name} is not closed; it is ${state.status}`,
        `stint resume ${state.name} goes on with it`,
      )
    }
    return [
      draft('session.reopened', defined({ git: workspace.git() }), { by }),
      ...moveDrafts(state.tasks, 'in_progress', by),
    ]
  })
  await refreshTasks(workspace, reading.state.tasks)
  session.close()
  return reading
}

function notActive(state: SessionState): StintError {
  const hint =
    state.status === 'paused'
      ? `stint resume ${state.name} goes on with it`
      : `stint reopen ${state.name} takes that back`
  return new StintError('SESSION_NOT_ACTIVE', `${state.name} is ${state.status} already`, hint)
}

function closedAlready(name: string, status: SessionStatus): StintError {
  return new StintError(
    'SESSION_CLOSED',
    `${name} is ${status} already`,
    `stint reopen ${name} takes that back`,
  )
}
