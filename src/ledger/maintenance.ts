import type { Workspace } from '../project/store/workspace.ts'
import { appendToBacklog } from '../project/tasks/project-backlog.ts'
import { StintError } from '../journal/errors.ts'
import { logPaths } from '../project/store/project-paths.ts'
import { BACKLOG_ID, type EntryDraft, draftEntry } from '../session/entries.ts'
import { effectiveEntries } from '../session/effective-entries.ts'
import { existsSync } from 'node:fs'
import { latestHandoffs } from '../project/handoff/find.ts'
import type { MaintenanceHint, Maintenance } from './ledger-types.ts'
import { defined } from '../text/defined.ts'
import { checkDelegates, checkRuns } from '../run/control/check-runs.ts'
import { toDelegateRow } from '../run/delegate/delegate-row.ts'
import { readDelegates, hasLiveProcess, isOpenDelegate } from '../run/delegate/delegates.ts'
import { listBlobs } from '../history/blobs.ts'
import type { SessionRow } from '../index/queries.ts'
import { shortId } from '../journal/ids.ts'
import { checkHookErrors, checkOrphanedFiles } from '../project/doctor/orphaned-files.ts'
import { openConversationStore, totalBytes } from '../project/history/history.ts'
import { listRuns } from '../run/runs.ts'
import { waitingHandoff } from '../session/kinds/handoffs.ts'
import { isSessionOpen } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { foldBacklog } from '../backlog/backlog.ts'

const SESSIONS_PER_MAINTENANCE = 10

export async function checkMaintenance(
  workspace: Workspace,
  now = new Date(),
): Promise<Maintenance> {
  const rows = workspace.hasSessions() ? [...(await workspace.index()).sessions()] : []
  const lastDoneAt = lastDone(workspace)
  const sinceLast =
    lastDoneAt === undefined
      ? rows.length
      : rows.filter(({ createdAt }) => createdAt > lastDoneAt).length
  return {
    sessions: rows.length,
    sinceLast,
    ...defined({ lastDoneAt }),
    every: SESSIONS_PER_MAINTENANCE,
    isDue: sinceLast >= SESSIONS_PER_MAINTENANCE,
    hints: await hintsFor(workspace, rows, now),
  }
}

export async function recordMaintenance(
  workspace: Workspace,
  by = 'library',
): Promise<Maintenance> {
  if (!workspace.hasSessions()) {
    const hint = 'stint init --name NAME --goal TEXT starts one'
    throw new StintError('NO_SESSION', 'there are no sessions here, so nothing was tidied up', hint)
  }
  appendToBacklog(workspace, [draftEntry('maintenance.done', {}, { by }) as EntryDraft])
  return checkMaintenance(workspace)
}

function lastDone(workspace: Workspace) {
  const { path, link } = logPaths(workspace.paths, BACKLOG_ID)
  if (!existsSync(path) && (link === undefined || !existsSync(link))) return undefined
  const backlog = workspace.session(BACKLOG_ID)
  try {
    return effectiveEntries(backlog.log.read().records).findLast(
      ({ kind }) => kind === 'maintenance.done',
    )?.at
  } finally {
    backlog.close()
  }
}

const DAY_MS = 24 * 60 * 60_000
const STALE_DAYS = 14
const LARGE_HISTORY = 200_000_000
const MAX_HINTS = 5
const MAX_HINT_LENGTH = 160

async function hintsFor(workspace: Workspace, sessions: readonly SessionRow[], now: Date) {
  if (sessions.length === 0) return []
  return [
    ...staleSessions(sessions, now),
    ...unmergedDelegates(workspace),
    ...resumableRuns(workspace),
    ...(await pendingHandoffs(workspace, sessions, now)),
    ...(await failedTasks(workspace)),
    ...doctorHints(workspace),
    ...historyHints(workspace),
  ].map(({ what, command }) => ({ what: shorten(oneLine(what), MAX_HINT_LENGTH), command }))
}

function staleSessions(sessions: readonly SessionRow[], now: Date) {
  const before = new Date(now.getTime() - STALE_DAYS * DAY_MS).toISOString()
  const old = sessions.filter((row) => isSessionOpen(row) && row.updatedAt < before)
  return limitHints(
    old,
    'stint list --status active,paused',
    'sessions untouched for as long',
    ({ id, name, status, updatedAt }) => ({
      what: `session ${name} is ${status} and untouched since ${updatedAt.slice(0, 10)}`,
      command: `stint close --abandon --session ${shellSafe(name, id)}`,
    }),
  )
}

function unmergedDelegates(workspace: Workspace) {
  const unmerged = readDelegates(workspace.paths).filter(
    (state) => isOpenDelegate(state) && !hasLiveProcess(state),
  )
  return limitHints(unmerged, 'stint delegates', 'delegates whose work is not merged', (state) => {
    const { name, status, next } = toDelegateRow(workspace, state)
    return {
      what: `delegate ${name} is ${status}, and its work is not merged`,
      command: next ?? `stint delegate show ${name}`,
    }
  })
}

function resumableRuns(workspace: Workspace) {
  const resumable = listRuns(workspace).filter(({ state }) => state === 'resumable')
  return limitHints(
    resumable,
    'stint runs',
    'runs that can go on',
    ({ id, how, open, failed }) => ({
      what: `run ${shortId(id)} ended (${how}) with ${open + failed} of its tasks not done`,
      command: `stint run --resume ${shortId(id)}`,
    }),
  )
}

async function pendingHandoffs(workspace: Workspace, sessions: readonly SessionRow[], now: Date) {
  const before = new Date(now.getTime() - DAY_MS).toISOString()
  const pending = [
    ...(await latestHandoffs(workspace)),
    ...sessionHandoffs(workspace, sessions),
  ].filter(({ at }) => at < before)
  return limitHints(
    pending,
    'stint handoff list',
    'handoffs that nobody took up',
    ({ session, name, number, to }) => {
      const recipient = to === undefined ? '' : ` for ${to.kind} ${to.name}`
      const command = `stint handoff show ${shellSafe(name, session)}/${number} --check`
      return { what: `handoff ${number} of ${name}${recipient} was never taken up`, command }
    },
  )
}

function sessionHandoffs(workspace: Workspace, sessions: readonly SessionRow[]) {
  return sessions.filter(isSessionOpen).flatMap(({ id, name }) => {
    const session = workspace.session(id)
    const handoff = waitingHandoff(session.open())
    session.close()
    return handoff === undefined ? [] : [{ ...handoff, session: id, name }]
  })
}

async function failedTasks(workspace: Workspace) {
  const { tasks } = foldBacklog([...(await workspace.index()).taskEntries()])
  const failed = tasks.filter(({ status }) => status === 'failed')
  return limitHints(failed, 'stint task list', 'tasks that failed', ({ id, shortname, title }) => ({
    what: `task ${shortname} failed: ${title}`,
    command: `stint task start ${shellSafe(shortname, id)}`,
  }))
}

/** The cheap checks of the doctor; the others read everything. */
function doctorHints({ paths }: Workspace) {
  const [orphaned, temporaries] = checkOrphanedFiles(paths, { repair: false })
  const found = [
    // Interrupted runs have a hint of their own.
    ...checkRuns(paths).filter(({ check, status }) => check !== 'runs' || status !== 'note'),
    ...checkDelegates(paths),
    orphaned,
    temporaries,
    checkHookErrors(paths),
  ]
  return found.flatMap((check) => {
    if (check === undefined || check.status === 'ok') return []
    const { details, summary } = check
    const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
    return [
      {
        what: `${check.check}: ${details[0] ?? summary}${more}`,
        command: check === temporaries ? 'stint doctor --repair' : 'stint doctor',
      },
    ]
  })
}

function historyHints(workspace: Workspace) {
  const files = [...openConversationStore(workspace).list(), ...listBlobs(workspace.paths.sessions)]
  const bytes = totalBytes(files)
  if (bytes < LARGE_HISTORY) return []
  const what = `what was said takes ${Math.round(bytes / 1_000_000)} MB in ${files.length} files`
  return [{ what, command: 'stint history prune --dry-run --older-than 90d' }]
}

/** A name may come from another machine's journal, and must be safe in a shell. */
function shellSafe(name: string, id: string) {
  return /^[a-z0-9][\w-]*$/i.test(name) ? name : id
}

function limitHints<T>(
  items: readonly T[],
  all: string,
  what: string,
  hint: (one: T) => MaintenanceHint,
) {
  const more = items.length - MAX_HINTS
  return [
    ...items.slice(0, MAX_HINTS).map(hint),
    ...(more > 0 ? [{ what: `${more} more ${what}`, command: all }] : []),
  ]
}
