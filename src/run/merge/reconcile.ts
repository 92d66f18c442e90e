// A delegate whose process is gone is not left as if it were at work: what it had done is committed, and it is said.
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/strays.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import {
  type DelegateState,
  allDelegates,
  delegateNow,
  isOrphaned,
  isSameProcess,
} from '../delegate/delegates.ts'
import { QUEUE, inTurn, takingUp } from '../delegate/in-turn.ts'
import { tellMissed } from '../delegate/parent-journal.ts'
import { moveOn } from '../delegate/work-delegate.ts'
import { Claims } from '../loop/claims.ts'
import { endLeftovers } from '../loop/resume.ts'
import { thisProcess } from '../loop/start-run.ts'
import { RunLog } from '../run-log.ts'
import { finish, isOnTarget, readyAgain } from './finish.ts'
import { integrationTree, removeIntegrationTree } from './integration-tree.ts'

/** Brings a delegate that nobody runs or merges any more to where it really stands. Any other is answered as it is. */
export async function reconcile(
  workspace: Workspace,
  state: DelegateState,
): Promise<DelegateState> {
  if (!isOrphaned(state)) return state
  if (state.status === 'merging') return recoverMerge(workspace, state)
  return inTurn(workspace.place, takingUp(state.id), async () => {
    const now = delegateNow(workspace.place, state.id)
    // Somebody has begun it again meanwhile, or settled it.
    if (!isOrphaned(now) || now.status === 'merging') return now
    await endLeftovers(now.run)
    const { ended } = now.run
    return moveOn(
      workspace,
      now.id,
      ended ?? 'interrupted',
      ended === undefined ? whyOrphaned(now) : undefined,
    )
  })
}

function whyOrphaned({ isBegun }: DelegateState): string {
  return isBegun ? 'its process ended in the middle of it' : 'it was never begun'
}

/** All delegates, each where it really stands. What cannot be settled now is said, and left for the next time. */
export async function reconcileAll(workspace: Workspace): Promise<readonly DelegateState[]> {
  const settled: DelegateState[] = []
  for (const state of allDelegates(workspace.place)) {
    try {
      settled.push(await reconcile(workspace, state))
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      workspace.say(`${state.order.name} cannot be settled now: ${error.message}`)
      settled.push(delegateNow(workspace.place, state.id))
    }
  }
  await tellMissed(workspace, settled)
  return settled
}

/** Brings a merge that nobody goes on with to an end: merged, or ready again. Answers the delegate as it is then. */
export async function recoverMerge(
  workspace: Workspace,
  { id }: DelegateState,
): Promise<DelegateState> {
  const { place } = workspace
  const merger = thisProcess()
  const claims = new Claims(place, mintId(undefined), merger)
  try {
    // Whoever has the queue recovers it as well.
    return claims.take(QUEUE)
      ? await recoverWithQueue(workspace, id, merger)
      : delegateNow(place, id)
  } finally {
    claims.releaseAll()
  }
}

/** The same for who has the queue already. */
export async function recoverWithQueue(
  workspace: Workspace,
  id: string,
  merger: ProcessMark,
): Promise<DelegateState> {
  const { place } = workspace
  const state = delegateNow(place, id)
  const { merge } = state
  if (state.status !== 'merging' || merge === undefined || isMergedByAnother(merge.merger, merger))
    return state
  const log = new RunLog(place, id, workspace.config)
  try {
    removeIntegrationTree(place, integrationTree(place, id))
    const { landing, tip } = merge
    if (landing === undefined || !isOnTarget(place, landing))
      readyAgain(place, log, state, { because: 'the merge was cut off', commit: tip })
    else {
      const finishing = {
        workspace,
        say: (text: string) => workspace.say(text),
        at: async () => {},
      }
      await finish(finishing, log, state, { target: landing.target, commit: landing.to, tip })
    }
  } finally {
    log.close()
  }
  return delegateNow(place, id)
}

/** Nobody else of this process merges, as it has the queue; what it began before has failed. */
function isMergedByAnother(other: ProcessMark, merger: ProcessMark): boolean {
  return !isSameProcess(other, merger) && isAlive(other)
}
