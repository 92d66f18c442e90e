import { join, sep } from 'node:path'
import type { SessionRow } from '../../index/queries.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { stateHome } from '../../journal/state-home.ts'
import { type SessionStatus, isSessionOpen } from '../../session/state.ts'
import { slug } from '../../text/clean.ts'
import { sessionOfConversation } from './conversation-binding.ts'
import { currentOpenSession, currentOpenSessions } from './open-sessions.ts'
import { isRefusedJournal } from './project-paths.ts'
import type { Workspace } from './workspace.ts'

export class AmbiguousSession extends StintError {
  override readonly name = 'AmbiguousSession'
  constructor(
    problem: string,
    readonly candidates: readonly SessionRow[],
  ) {
    const lines = candidates
      .slice(0, 10)
      .map((row) => `  ${shortId(row.id)}  ${row.name}  ${row.status}  ${row.branch ?? ''}`)
    const more = candidates.length > 10 ? [`  … and ${candidates.length - 10} more`] : []
    super(
      'SESSION_AMBIGUOUS',
      [problem, ...lines, ...more].join('\n'),
      'name one of them, by id or any part of it that only it has',
    )
  }
}

export class NoSession extends StintError {
  override readonly name = 'NoSession'
  constructor(message: string, hint: string) {
    super('NO_SESSION', message, hint)
  }
}

/** By id, a unique part of an id, or a short name. */
export async function findSession(workspace: Workspace, name: string): Promise<SessionRow> {
  const index = workspace.hasSessions() ? await workspace.index() : undefined
  const matches = index?.findByNameOrId(name) ?? []
  // init turns FixAuth into fix-auth.
  const slugMatches =
    matches.length > 0
      ? []
      : (index?.findByNameOrId(slug(name)) ?? []).filter((row) => row.name === slug(name))
  const found = [...matches, ...slugMatches]
  const exact = found.filter((row) => row.id === name || row.name === name)
  const candidates = exact.length > 0 ? exact : found
  const [first] = candidates
  if (first === undefined)
    throw new NoSession(
      `there is no session "${name}"`,
      'stint list shows the sessions of this project',
    )
  if (candidates.length === 1) return first
  const open = candidates.filter(isSessionOpen)
  if (exact.length > 0 && open.length === 1) return open[0]!
  throw new AmbiguousSession(`"${name}" fits several sessions:`, candidates)
}

export type ChosenSession = Pick<SessionRow, 'id' | 'name' | 'status' | 'worktree'>

/** A paused session never counts as active. */
export async function findActiveSession(workspace: Workspace): Promise<SessionRow | undefined> {
  if (!workspace.hasSessions()) return undefined
  const active = [...(await workspace.index()).sessions({ status: ['active'] })]
  const usable = active.filter(({ id }) => !isRefusedJournal(workspace.paths, id))
  const candidates = activeHere(workspace, usable)
  if (candidates.length > 1)
    throw new AmbiguousSession('several sessions are active here:', candidates)
  return candidates[0]
}

/** Without opening the index, when exactly one open session fits. */
function onlyActiveSession(workspace: Workspace) {
  // Sessions of other machines come with git pull, and only the index scans every log.
  if (workspace.config.share === 'git') return undefined
  workspace.drainOutboxes()
  const open = currentOpenSessions(workspace.paths)
  const candidates = activeHere(
    workspace,
    open.filter(({ status }) => status === 'active'),
  )
  return candidates.length === 1 ? candidates[0] : undefined
}

function activeHere<T extends Pick<SessionRow, 'branch' | 'worktree'>>(
  workspace: Workspace,
  everywhere: readonly T[],
) {
  const { worktree } = workspace
  const active = everywhere.filter(
    (row) => row.worktree === worktree || !isRunWorktree(row.worktree),
  )
  const branch = workspace.git()?.branch
  const here = worktree === undefined ? [] : active.filter((row) => row.worktree === worktree)
  // A detached HEAD owns sessions that were started on a detached HEAD.
  const onBranch =
    workspace.paths.repository === undefined ? [] : active.filter((row) => row.branch === branch)
  // A session bound to another worktree is the last choice.
  const unbound = active.filter((row) => row.worktree === undefined)
  return [here, onBranch, unbound, active].find((rows) => rows.length > 0) ?? []
}

/** Commands outside these worktrees never choose the sessions of runs and delegates. */
export function isRunWorktree(worktree: string | undefined): boolean {
  return worktree?.startsWith(join(stateHome(), 'worktrees') + sep) === true
}

/** The named session, else STINT_SESSION, else the conversation's, else the active one. */
export async function chooseSession(workspace: Workspace, name?: string): Promise<ChosenSession> {
  const wanted = name ?? workspace.env.STINT_SESSION
  if (wanted !== undefined && wanted !== '')
    return currentOpenSession(workspace.paths, wanted) ?? (await findSession(workspace, wanted))
  const active =
    sessionOfConversation(workspace) ??
    onlyActiveSession(workspace) ??
    (await findActiveSession(workspace))
  if (active !== undefined) return active
  const open = workspace.hasSessions()
    ? [...(await workspace.index()).sessions({ status: ['active', 'paused'] })]
    : []
  const foreign = open.filter(({ id }) => isRefusedJournal(workspace.paths, id))
  const paused = open.find((row) => !foreign.includes(row))
  if (paused === undefined && foreign.length > 0) throw foreignSessions(foreign.length)
  if (paused !== undefined) {
    throw new NoSession(
      'no session is active here',
      `${paused.name} is paused: stint resume ${paused.name} goes on with it`,
    )
  }
  throw new NoSession('no session is active here', 'stint init --name NAME --goal TEXT starts one')
}

export function foreignSessions(count: number): NoSession {
  return new NoSession(
    `no session is active here; ${count} came with the repository and are not used`,
    'stint trust shows what came with it and asks; stint init --name NAME --goal TEXT starts one',
  )
}

export function isSessionNamed(workspace: Workspace, name: string | undefined): boolean {
  return (name ?? workspace.env.STINT_SESSION ?? '') !== ''
}

export async function chooseOpenSession(
  workspace: Workspace,
  name?: string,
): Promise<ChosenSession> {
  const row = await chooseSession(workspace, name)
  refuseClosed(row)
  return row
}

export function refuseClosed(row: { name: string; status: SessionStatus }): void {
  if (isSessionOpen(row)) return
  throw new StintError(
    'SESSION_CLOSED',
    `${row.name} is ${row.status}`,
    `stint reopen ${row.name} takes that back`,
  )
}
