import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { type Draft, draft } from '../../session/entries.ts'
import { advance } from '../../session/fold.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { amendableFields } from '../../session/registry.ts'
import type { SessionState } from '../../session/state.ts'
import { chooseSession, isNamed, refuseClosed } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import { type LogEntry, draftsFor } from './log-entries.ts'
import { leaveForRun, leftForRun, sessionOutOfReach } from '../store/tree-outbox.ts'
import { type Workspace, hasMoved } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface RecordOptions {
  readonly session?: string
  readonly entries?: readonly LogEntry[]
  /** The entry by id or a unique part of it. */
  readonly amend?: { readonly entry: string; readonly changes: Readonly<Record<string, string>> }
  readonly retract?: readonly string[]
  readonly reason?: string
  readonly by?: string
}

export interface Recorded {
  readonly reading: Reading
  readonly appended: readonly RawEntry[]
  /** The journal is not writable from here: the entries wait in the working tree for the run. */
  readonly isLeft?: true
}

export async function recordEntries(
  workspace: Workspace,
  options: RecordOptions,
): Promise<Recorded> {
  const apart = options.session === undefined ? sessionOutOfReach(workspace) : undefined
  if (apart !== undefined) return leaveEntries(workspace, apart, options)
  const row = await chooseSession(workspace, options.session)
  refuseClosed(row)
  const session = workspace.session(row.id)
  const { appended, reading } = await workspace.update(session, (before) =>
    draftsOf(workspace, session, before, options),
  )
  session.close()
  return { reading, appended }
}

function leaveEntries(
  workspace: Workspace,
  session: LiveSession,
  options: RecordOptions,
): Recorded {
  const reading = session.read()
  refuseClosed(reading.state)
  // What waits in the tree counts as journalled: one command starts a step, the next finishes it.
  const left = leftForRun(workspace, session)
  const now = {
    ...reading,
    state: advance(reading.state, left),
    entries: [...reading.entries, ...left],
  }
  const appended = leaveForRun(workspace, session, draftsOf(workspace, session, now, options))
  session.close()
  const after = {
    ...now,
    state: advance(now.state, appended),
    entries: [...now.entries, ...appended],
  }
  return { reading: after, appended, isLeft: true }
}

function draftsOf(
  workspace: Workspace,
  session: LiveSession,
  reading: Reading,
  options: RecordOptions,
): readonly Draft[] {
  const by = options.by ?? 'library'
  const drafts: Draft[] = []
  let state = reading.state
  const add = (more: readonly Draft[]) => {
    drafts.push(...more)
    state = withDrafts(state, more)
  }
  for (const entry of options.entries ?? [])
    add(draftsFor(entry, () => state, { mint: () => session.mint(), by }))
  add(startFirst(state, by, () => session.mint()))
  // Only a session found by its branch follows the branch; a named one stays bound.
  const moved = isNamed(workspace, options.session) ? undefined : workspace.git()
  if (hasMoved(state, moved)) drafts.push(draft('git.observed', { git: moved }, { by }))
  if (options.amend !== undefined) drafts.push(amendment(reading.entries, options.amend, by))
  for (const entry of options.retract ?? [])
    drafts.push(retraction(reading.entries, entry, options.reason, by))
  return drafts
}

/** A later entry of the same call can refer to an earlier one. */
function withDrafts(state: SessionState, drafts: readonly Draft[]): SessionState {
  const at = new Date().toISOString()
  return advance(
    state,
    drafts.map((one) => ({ ...one, at, id: one.id!, data: one.data as Record<string, unknown> })),
  )
}

/** While steps are left, one of them is current. */
export function startFirst(state: SessionState, by: string, mint: () => string): readonly Draft[] {
  if (state.steps.items.some((step) => step.status === 'started')) return []
  const first = state.steps.items.find((step) => step.status === 'todo')
  return first === undefined ? [] : [draft('step.started', { step: first.id }, { id: mint(), by })]
}

function amendment(
  entries: readonly RawEntry[],
  amend: NonNullable<RecordOptions['amend']>,
  by: string,
): Draft {
  const target = findEntry(entries, amend.entry)
  const allowed = amendableFields(target.kind)
  if (allowed.length === 0) {
    throw new StintError(
      'NOT_AMENDABLE',
      `a ${target.kind} entry cannot be reworded`,
      'stint log --retract takes it back',
    )
  }
  const wrong = Object.keys(amend.changes).find((field) => !allowed.includes(field))
  if (wrong !== undefined) {
    throw new StintError(
      'NOT_AMENDABLE',
      `a ${target.kind} entry has no ${wrong}`,
      `it has ${allowed.join(', ')}`,
    )
  }
  if (Object.keys(amend.changes).length === 0)
    throw new StintError('NOTHING_TO_CHANGE', 'say what the entry is to read now')
  return draft('entry.amended', { entry: target.id, changes: amend.changes }, { by })
}

function retraction(
  entries: readonly RawEntry[],
  reference: string,
  reason: string | undefined,
  by: string,
): Draft {
  const target = findEntry(entries, reference)
  if (target.kind === 'session.opened') {
    throw new StintError(
      'NOT_RETRACTABLE',
      'the beginning of a session cannot be retracted',
      'stint close --abandon ends the session',
    )
  }
  return draft('entry.retracted', { entry: target.id, ...defined({ reason }) }, { by })
}

function findEntry(entries: readonly RawEntry[], reference: string): RawEntry {
  const ending = entries.filter((entry) => entry.id.endsWith(reference))
  const found = ending.length > 0 ? ending : entries.filter((entry) => entry.id.includes(reference))
  if (found.length === 1 && reference !== '') return found[0]!
  const hint = 'stint view --entries lists the entries with their ids'
  if (found.length === 0 || reference === '')
    throw new StintError('NO_ENTRY', `there is no entry "${reference}"`, hint)
  const some = found.slice(0, 5).map((entry) => `  ${shortId(entry.id)}  ${entry.kind}`)
  throw new StintError(
    'ENTRY_AMBIGUOUS',
    [`"${reference}" fits ${found.length} entries:`, ...some].join('\n'),
    hint,
  )
}
