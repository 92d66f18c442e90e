import { isAlive } from '../../harness/process/strays.ts'
import { isRejection, type DelegateState } from '../delegate/delegate-state.ts'

/** Why a delegate is not to be merged now, and what to do; undefined when it is. One that did not go in before is tried again. */
export function reasonNotToMerge(
  state: DelegateState,
): { readonly because: string; readonly next?: string } | undefined {
  const { merge, move, order, run, status } = state
  const { name } = order
  if (order.isReadOnly)
    return {
      because: `it only reads; stint delegate show ${name} has its report`,
      next: `stint delegate show ${name}`,
    }
  switch (status) {
    case 'ready':
    case 'conflicted':
    case 'parked':
      return undefined
    case 'failed':
      return move !== undefined && isRejection(move)
        ? undefined
        : { because: 'it failed', next: `stint delegate retry ${name}` }
    case 'running':
      return run.ended === undefined && isAlive(run.runner)
        ? { because: 'it is still running', next: `stint delegate wait ${name}` }
        : {
            because: 'nobody runs it any more, and it is not finished',
            next: `stint delegate retry ${name}`,
          }
    case 'merging':
      return merge !== undefined && isAlive(merge.merger)
        ? { because: `process ${merge.merger.pid} merges it`, next: `stint delegate wait ${name}` }
        : { because: 'its merge was cut off', next: `stint merge ${name}` }
    case 'merged':
    case 'discarded':
      return { because: `it is ${status} already` }
  }
}
