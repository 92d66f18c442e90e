import { headOf } from '../worktree/tree.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { obstacleTo } from './checkouts.ts'
import { makeTree, mergeInto } from './integration-tree.ts'
import { type MergeScene, refuseWhenStopped } from './scene.ts'
import { type Red, verifyMerge } from './verify-merge.ts'

export type Made =
  | { readonly is: 'green'; readonly to: string }
  | { readonly is: 'conflict'; readonly files: readonly string[]; readonly because: string }
  | ({ readonly is: 'red' } & Red)
  | { readonly is: 'held'; readonly because: string }

/**
 * The merge, in its own tree, verified. It is a commit of its own also where the target could just go on to the delegate's last: those
 * before that one were never verified, and would be what the target was at, one after the other, for whoever looks for a mistake there.
 */
export async function makeMerge(
  scene: MergeScene,
  state: DelegateState,
  { tree, tip, onto }: { readonly tree: string; readonly tip: string; readonly onto: string },
): Promise<Made> {
  const { place } = scene.workspace
  const { name, target, what } = state.order
  makeTree(place, tree, onto)
  refuseWhenStopped(scene)
  const message = shorten(oneLine(`Merge delegate ${name}: ${what}`), 100)
  const files = mergeInto(tree, tip, message)
  if (files !== undefined) {
    return {
      is: 'conflict',
      files,
      because: `it conflicts with ${target} in ${files.slice(0, 8).join(', ')}`,
    }
  }
  const to = headOf(tree).commit
  await scene.at('merge made')
  // Before the long part, and once more when it is over.
  const because = obstacleTo(place, target)
  if (because !== undefined) return { is: 'held', because }
  const red = await verifyMerge(scene, state, { tree, to })
  return red === undefined ? { is: 'green', to } : { is: 'red', ...red }
}
