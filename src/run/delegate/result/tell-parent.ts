// What a delegate's parent is told: one entry in its journal for each thing that becomes of it.
import { StintError, errnoOf } from '../../../journal/errors.ts'
import type { Workspace } from '../../../project/store/workspace.ts'
import { NOTHING, addUsage, totalOf } from '../../run-state.ts'
import {
  type DelegateOutcome,
  type Draft,
  type EntryData,
  type Usage,
  draft,
} from '../../../session/entries.ts'
import type { DelegateState } from '../delegate-state.ts'
import { isUnsettled } from '../delegates.ts'
import { changedFiles } from './changed-files.ts'
import { appendOnce, withJournal } from './journal-of-parent.ts'
import { defined } from '../../../text/defined.ts'

const BY = 'delegate'

/** Says in the parent's journal that a delegate works for it, or works again. */
export async function tellBegun(workspace: Workspace, state: DelegateState): Promise<void> {
  const { as, group, name, parent, task, what } = state.order
  const begun = draft(
    'delegate.begun',
    {
      delegate: state.id,
      name,
      what,
      ...defined({ as, task, group }),
      branch: state.run.started.branch,
    },
    { by: BY, once: `delegate:${state.id}:begun:${state.since}` },
  )
  await tell(workspace, parent, begun)
}

/** Says in the parent's journal what became of a delegate. Nothing as long as it is worked on. */
export async function tellParent(workspace: Workspace, state: DelegateState): Promise<void> {
  if (state.status === 'running' || state.status === 'merging') return
  const report = reportDraft(workspace, state, state.status, {})
  await tell(workspace, state.order.parent, report)
}

/** Tells parents what they have not heard, because whoever should have told them was ended before. */
export async function tellMissed(
  workspace: Workspace,
  states: readonly DelegateState[],
): Promise<void> {
  const parents = new Set(states.flatMap(({ order }) => order.parent ?? []))
  for (const parent of parents) {
    const heard = await withJournal(
      workspace,
      parent,
      async (session) => session.open().delegates.items,
    )
    const statusOf = new Map(heard?.map(({ delegate, status }) => [delegate, status]))
    // Of those that are settled a session forgets the oldest.
    const isBehind = (state: DelegateState) =>
      state.order.parent === parent &&
      statusOf.get(state.id) !== state.status &&
      (statusOf.has(state.id) || isUnsettled(state))
    if (heard !== undefined)
      for (const state of states.filter(isBehind)) await tellParent(workspace, state)
  }
}

/** The delegate's own log has it already: where a parent cannot be told, that is only said. */
async function tell(workspace: Workspace, parent: string | undefined, entry: Draft): Promise<void> {
  try {
    await withJournal(workspace, parent, (session) => appendOnce(workspace, session, [entry]))
  } catch (error) {
    if (
      !(error instanceof Error) ||
      (!(error instanceof StintError) && errnoOf(error) === undefined)
    )
      throw error
    workspace.say(`what became of a delegate could not be told in its session: ${error.message}`)
  }
}

type Reported = EntryData['delegate.reported']

/** The entry by which a parent learns of it. */
export function reportDraft(
  workspace: Workspace,
  state: DelegateState,
  status: DelegateOutcome,
  more: Pick<Reported, 'commit' | 'deliverables'>,
): Draft {
  const { id, move, order, ready, run } = state
  const summary = move?.summary ?? ready?.summary
  const files = changedFiles(workspace, state, { isMerged: status === 'merged' })
  const usage = usageOf(state)
  return draft(
    'delegate.reported',
    {
      delegate: id,
      name: order.name,
      status,
      what: order.what,
      branch: run.started.branch,
      ...defined({ summary }),
      ...(move?.because === undefined || status === 'merged' ? {} : { because: move.because }),
      ...defined({ commit: move?.commit, report: move?.report }),
      ...(files.length === 0 ? {} : { files }),
      ...(totalOf(usage) === 0 ? {} : { usage }),
      ...defined({ task: order.task }),
      ...more,
    },
    // It is merged once; whatever else becomes of it may come again.
    {
      by: BY,
      once:
        status === 'merged' ? `delegate:${id}:merged` : `delegate:${id}:${status}:${state.since}`,
    },
  )
}

/** Of all its attempts. */
function usageOf({ run }: DelegateState): Usage {
  return run.attempts.flatMap(({ spent }) => Object.values(spent)).reduce(addUsage, NOTHING)
}
