// What does not go into the target is given back to be mended, until it has come back too often.
import type { DelegateMove } from '../delegate-order.ts'
import type { RunLog } from '../run-log.ts'
import type { MergeOutcome } from '../delegate/contract.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { delegateNow } from '../delegate/delegates.ts'
import { tellParent } from '../delegate/result/tell-parent.ts'
import { reasonOf } from './outcomes.ts'
import type { MergeScene } from './scene.ts'
import { defined } from '../../text/defined.ts'

type Rejection = DelegateMove & {
  readonly to: 'conflicted' | 'failed'
  readonly because: string
  readonly target: string
}

export async function reject(
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  move: Rejection,
): Promise<MergeOutcome> {
  const { options, workspace } = scene
  const { id, order, run } = state
  const { because, files, target } = move
  log.append('delegate.moved', move)
  const outcome: MergeOutcome = {
    delegate: id,
    name: order.name,
    how: move.to === 'conflicted' ? 'conflicted' : 'red',
    target,
    because,
    ...defined({ files }),
  }
  const retry = `stint delegate retry ${order.name}`
  // Whoever it works for hears of it when there is something for them to do.
  const tell = () => tellParent(workspace, delegateNow(workspace.place, id))
  if (options.sendBack === undefined) {
    await tell()
    return { ...outcome, next: retry }
  }
  const { rejected } = delegateNow(workspace.place, id)
  if (rejected > workspace.config.delegates.sendBack) {
    const reason = `${because}; it came back ${rejected} times`
    log.append('delegate.moved', { ...move, to: 'parked', because: reason })
    await tell()
    return {
      ...outcome,
      how: 'parked',
      because: reason,
      next: byHand(run.started.tree, target, order.name),
    }
  }
  try {
    await options.sendBack(id)
    return { ...outcome, isSentBack: true }
  } catch (error) {
    await tell()
    return {
      ...outcome,
      because: `${because}; it could not be sent back: ${reasonOf(error)}`,
      next: retry,
    }
  }
}

/** The commands by which a person takes it up. */
export function byHand(tree: string, target: string, name: string): string {
  return `git -C ${quoted(tree)} merge ${quoted(target)}, then stint merge ${name}`
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
