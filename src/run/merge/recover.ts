// What became of a merge whose process died in it. The target says it: either it has the merge, or it was never touched.
import { isAlive } from '../../harness/process/strays.ts'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { mintId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { Claims } from '../loop/claims.ts'
import { RunLog } from '../run-log.ts'
import { thisProcess } from '../loop/start-run.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { delegateNow } from '../delegate/delegates.ts'
import { keepProved } from '../delegate/proved-commit.ts'
import { finish } from './finish.ts'
import { contains, hasCommit, integrationTree, removeIntegrationTree } from './integration-tree.ts'
import { targetNow } from './move-target.ts'
import { QUEUE } from './queue-claim.ts'

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
    if (landing !== undefined && isOnTarget(workspace, landing)) {
      const { target, to } = landing
      const say = (text: string) => workspace.say(text)
      await finish({ workspace, say, at: async () => undefined }, log, state, {
        target,
        commit: to,
        tip,
      })
    } else {
      keepProved(place, id, tip)
      log.append('delegate.moved', {
        ...state.ready,
        to: 'ready',
        because: 'the merge was cut off',
        commit: tip,
      })
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

export function isSameProcess(a: ProcessMark, b: ProcessMark): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt
}

export function isOnTarget(
  { place }: Workspace,
  { target, to }: { readonly target: string; readonly to: string },
): boolean {
  const now = targetNow(place, target)
  return now !== undefined && hasCommit(place, to) && contains(place, now, to)
}
