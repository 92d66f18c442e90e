import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import { advance } from '../../session/fold.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { amendableFields } from '../../session/registry.ts'
import type { SessionState } from '../../session/state.ts'
import { chooseOpenSession, isSessionNamed, refuseClosed } from '../store/choose-session.ts'
import type { LiveSession, SessionReading } from '../store/live-session.ts'
import { type LogEntry, logEntryDrafts } from './log-entries.ts'
import {
  addToWorktreeOutbox,
  readWorktreeOutbox,
  unwritableSession,
} from '../store/worktree-outbox.ts'
import { type Workspace, hasHeadMoved } from '../store/workspace.ts'
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
  readonly reading: SessionReading
  readonly appended: readonly RawEntry[]
  /** The journal is not writable from here: the entries wait in the working tree for the run. */
  readonly isLeft?: true
}

export async function recordEntries(
  workspace: Workspace,
  options: RecordOptions,
): Promise<Recorded> {
  const unwritable = options.session === undefined ? unwritableSession(workspace) : undefined
  if (unwritable !== undefined) return leaveEntries(workspace, unwritable, options)
  const { id } = await chooseOpenSession(workspace, options.session)
  return workspace.update(id, (reading, session) =>
    entryDrafts(workspace, session, reading, options),
  )
}

function leaveEntries(
  workspace: Workspace,
  session: LiveSession,
  options: RecordOptions,
): Recorded {
  const read = session.read()
  refuseClosed(read.state)
  // Entries in the worktree outbox count: one command starts a step, the next finishes it.
  const now = advanceReading(read, readWorktreeOutbox(workspace, session))
  const appended = addToWorktreeOutbox(
    workspace,
    session,
    entryDrafts(workspace, session, now, options),
  )
  session.close()
  return { reading: advanceReading(now, appended), appended, isLeft: true }
}

function advanceReading(reading: SessionReading, more: readonly RawEntry[]) {
  return {
    ...reading,
    state: advance(reading.state, more),
    entries: [...reading.entries, ...more],
  }
}

function entryDrafts(
  workspace: Workspace,
  session: LiveSession,
  reading: SessionReading,
  { session: name, entries = [], amend, retract = [], reason, by = 'library' }: RecordOptions,
): readonly EntryDraft[] {
  const drafts: EntryDraft[] = []
  const mint = () => session.mint()
  let { state } = reading
  // A later entry of the same call can refer to an earlier one.
  const add = (more: readonly EntryDraft[]) => {
    drafts.push(...more)
    const at = new Date().toISOString()
    state = advance(
      state,
      more.map((one) => ({ ...one, at, id: one.id!, data: one.data as Record<string, unknown> })),
    )
  }
  for (const entry of entries) add(logEntryDrafts(entry, () => state, { mint, by }))
  add(startFirstStep(state, by, mint))
  // Only a session found by its branch follows the branch; a named one stays bound.
  const moved = isSessionNamed(workspace, name) ? undefined : workspace.git()
  if (hasHeadMoved(state, moved)) drafts.push(draftEntry('git.observed', { git: moved }, { by }))
  if (amend !== undefined) drafts.push(amendDraft(reading.entries, amend, by))
  for (const reference of retract) {
    const target = findEntry(reading.entries, reference)
    if (target.kind === 'session.opened')
      throw new StintError(
        'NOT_RETRACTABLE',
        'the beginning of a session cannot be retracted',
        'stint close --abandon ends the session',
      )
    drafts.push(draftEntry('entry.retracted', { entry: target.id, ...defined({ reason }) }, { by }))
  }
  return drafts
}

/** While steps are left, one of them is current. */
export function startFirstStep(
  { steps: { items } }: SessionState,
  by: string,
  mint: () => string,
): readonly EntryDraft[] {
  const first = items.some(({ status }) => status === 'started')
    ? undefined
    : items.find(({ status }) => status === 'todo')
  return first === undefined
    ? []
    : [draftEntry('step.started', { step: first.id }, { id: mint(), by })]
}

function amendDraft(
  entries: readonly RawEntry[],
  { entry, changes }: NonNullable<RecordOptions['amend']>,
  by: string,
) {
  const { id, kind } = findEntry(entries, entry)
  const allowed = amendableFields(kind)
  if (allowed.length === 0)
    throw new StintError(
      'NOT_AMENDABLE',
      `a ${kind} entry cannot be reworded`,
      'stint log --retract takes it back',
    )
  const wrong = Object.keys(changes).find((field) => !allowed.includes(field))
  if (wrong !== undefined)
    throw new StintError(
      'NOT_AMENDABLE',
      `a ${kind} entry has no ${wrong}`,
      `it has ${allowed.join(', ')}`,
    )
  if (Object.keys(changes).length === 0)
    throw new StintError('NOTHING_TO_CHANGE', 'say what the entry is to read now')
  return draftEntry('entry.amended', { entry: id, changes }, { by })
}

function findEntry(entries: readonly RawEntry[], reference: string) {
  const ending = entries.filter((entry) => entry.id.endsWith(reference))
  const found = ending.length > 0 ? ending : entries.filter((entry) => entry.id.includes(reference))
  const hint = 'stint view --entries lists the entries with their ids'
  const [first] = found
  if (first === undefined || reference === '')
    throw new StintError('NO_ENTRY', `there is no entry "${reference}"`, hint)
  if (found.length === 1) return first
  const list = found.slice(0, 5).map((entry) => `  ${shortId(entry.id)}  ${entry.kind}`)
  throw new StintError(
    'ENTRY_AMBIGUOUS',
    [`"${reference}" fits ${found.length} entries:`, ...list].join('\n'),
    hint,
  )
}
