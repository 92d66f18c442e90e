// A delegate whose process is gone is not left as if it were at work: what it had done is committed, and it is said.
import { endLeftovers } from '../loop/resume.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { DelegateState } from './delegate-state.ts'
import { allDelegates, delegateNow, isAdrift } from './delegates.ts'
import { inTurn, takingUp } from './in-turn.ts'
import { recoverMerge } from '../merge/recover.ts'
import { tellMissed } from './result/tell-parent.ts'
import { moveOn } from './work-delegate.ts'

/** Brings a delegate that nobody runs or merges any more to where it really stands. Any other is answered as it is. */
export async function settleDead(
  workspace: Workspace,
  state: DelegateState,
): Promise<DelegateState> {
  if (!isAdrift(state)) return state
  if (state.status === 'merging') return recoverMerge(workspace, state)
  return inTurn(workspace.place, takingUp(state.id), async () => {
    const now = delegateNow(workspace.place, state.id)
    // Somebody has begun it again meanwhile, or settled it.
    if (!isAdrift(now) || now.status === 'merging') return now
    await endLeftovers(now.run)
    const { ended } = now.run
    return moveOn(
      workspace,
      now.id,
      ended ?? 'interrupted',
      ended === undefined ? whyAdrift(now) : undefined,
    )
  })
}

function whyAdrift({ isBegun }: DelegateState): string {
  return isBegun ? 'its process ended in the middle of it' : 'it was never begun'
}

/** All delegates, each where it really stands. What cannot be settled now is said, and left for the next time. */
export async function settledDelegates(workspace: Workspace): Promise<readonly DelegateState[]> {
  const settled: DelegateState[] = []
  for (const state of allDelegates(workspace.place)) {
    try {
      settled.push(await settleDead(workspace, state))
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      workspace.say(`${state.order.name} cannot be settled now: ${error.message}`)
      settled.push(delegateNow(workspace.place, state.id))
    }
  }
  await tellMissed(workspace, settled)
  return settled
}
