import { type SessionRow, publicSessionRow } from '../session/public.ts'
import type { SessionState, SessionStatus } from '../session/state.ts'

export type { SessionRow } from '../session/public.ts'

export const ROW_COLUMNS = [
  'id',
  'name',
  'title',
  'status',
  'branch',
  'worktree',
  'goal',
  'tldr',
  'created_at',
  'updated_at',
  'closed_at',
  'compactions',
  'steps_done',
  'steps_total',
  'decisions',
  'discoveries',
  'open_blockers',
  'entry_count',
  'tasks',
] as const

type TextColumn = 'id' | 'name' | 'title' | 'goal' | 'created_at' | 'updated_at' | 'tasks'
type OptionalColumn = 'branch' | 'worktree' | 'tldr' | 'closed_at'
type CountColumn = Exclude<(typeof ROW_COLUMNS)[number], TextColumn | OptionalColumn | 'status'>

export type StoredRow = Readonly<
  Record<TextColumn, string> &
    Record<OptionalColumn, string | null> &
    Record<CountColumn, number> & { status: SessionStatus }
>

export function rowValues(state: SessionState): (string | number | null)[] {
  const { counts, ...row } = publicSessionRow(state)
  return [
    row.id,
    row.name,
    row.title,
    row.status,
    row.branch ?? null,
    row.worktree ?? null,
    row.goal,
    row.tldr ?? null,
    row.createdAt,
    row.updatedAt,
    row.closedAt ?? null,
    row.compactions,
    counts.stepsDone,
    counts.steps,
    counts.decisions,
    counts.discoveries,
    counts.openBlockers,
    counts.entries,
    JSON.stringify(row.tasks),
  ]
}

// Keeps absent values absent, so that a row compares equal to one built from a state.
export function rowFrom(stored: StoredRow): SessionRow {
  const { branch, worktree, tldr, closed_at: closedAt, tasks } = stored
  const row: { -readonly [K in keyof SessionRow]: SessionRow[K] } = {
    id: stored.id,
    name: stored.name,
    title: stored.title,
    status: stored.status,
    goal: stored.goal,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    compactions: stored.compactions,
    counts: {
      entries: stored.entry_count,
      steps: stored.steps_total,
      stepsDone: stored.steps_done,
      decisions: stored.decisions,
      discoveries: stored.discoveries,
      openBlockers: stored.open_blockers,
    },
    tasks: tasks === '[]' ? [] : (JSON.parse(tasks) as string[]),
  }
  if (branch !== null) row.branch = branch
  if (worktree !== null) row.worktree = worktree
  if (tldr !== null) row.tldr = tldr
  if (closedAt !== null) row.closedAt = closedAt
  return row
}
