import type { Workspace } from '../project/store/workspace.ts'
import { appendToBacklog } from '../project/tasks/backlog.ts'
import { StintError } from '../journal/errors.ts'
import { logPlace } from '../project/store/place.ts'
import { BACKLOG_ID, type Draft, draft } from '../session/entries.ts'
import { inEffect } from '../session/in-effect.ts'
import { existsSync } from 'node:fs'
import type { Maintenance } from './contract.ts'
import { hintsFor } from './hints.ts'
import { defined } from '../text/defined.ts'

const EVERY = 10

/** Counted, never stored. */
export async function maintenanceOf(
  workspace: Workspace,
  now: Date = new Date(),
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
    every: EVERY,
    isDue: sinceLast >= EVERY,
    hints: await hintsFor(workspace, rows, now),
  }
}

export async function markMaintained(workspace: Workspace, by = 'library'): Promise<Maintenance> {
  if (!workspace.hasSessions()) {
    const hint = 'stint init --name NAME --goal TEXT starts one'
    throw new StintError('NO_SESSION', 'there are no sessions here, so nothing was tidied up', hint)
  }
  appendToBacklog(workspace, [draft('maintenance.done', {}, { by }) as Draft])
  return maintenanceOf(workspace)
}

function lastDone(workspace: Workspace) {
  const { path, link } = logPlace(workspace.place, BACKLOG_ID)
  if (!existsSync(path) && (link === undefined || !existsSync(link))) return undefined
  const backlog = workspace.session(BACKLOG_ID)
  try {
    return inEffect(backlog.log.read().records).findLast(({ kind }) => kind === 'maintenance.done')
      ?.at
  } finally {
    backlog.close()
  }
}
