import {
  type SessionState,
  type SessionStatus,
  count,
  openBlockers,
  stepCounts,
} from '../session/state.ts'

/** A session in a list. */
export interface SessionRow {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly branch?: string
  readonly worktree?: string
  readonly goal: string
  /** The TL;DR somebody wrote last. */
  readonly tldr?: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt?: string
  readonly compactions: number
  readonly stepsDone: number
  readonly stepsTotal: number
  readonly decisions: number
  readonly discoveries: number
  readonly openBlockers: number
  /** Every entry in the log, those taken back included. */
  readonly entryCount: number
  readonly tasks: readonly string[]
}

/** The columns of a row, in the order of `rowValues`. */
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
  const steps = stepCounts(state)
  return [
    state.id,
    state.name,
    state.title,
    state.status,
    state.branch ?? null,
    state.worktree ?? null,
    state.goal,
    state.tldr?.text ?? null,
    state.createdAt,
    state.updatedAt,
    state.closedAt ?? null,
    state.compactions,
    steps.done,
    steps.total,
    count(state.decisions),
    count(state.discoveries),
    openBlockers(state).length,
    state.entryCount,
    JSON.stringify(state.tasks),
  ]
}

// Reading through this function rather than through column aliases costs little and keeps absent
// values absent, so that a row compares equal to one built from a state.
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
    stepsDone: stored.steps_done,
    stepsTotal: stored.steps_total,
    decisions: stored.decisions,
    discoveries: stored.discoveries,
    openBlockers: stored.open_blockers,
    entryCount: stored.entry_count,
    tasks: tasks === '[]' ? [] : (JSON.parse(tasks) as string[]),
  }
  if (branch !== null) row.branch = branch
  if (worktree !== null) row.worktree = worktree
  if (tldr !== null) row.tldr = tldr
  if (closedAt !== null) row.closedAt = closedAt
  return row
}
