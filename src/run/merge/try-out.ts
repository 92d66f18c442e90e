import type { MergeOutcome } from '../delegate/contract.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { contradictionsOf } from '../delegate/result/contradictions.ts'
import { contains, removeIntegrationTree, treeToTryIn } from './integration-tree.ts'
import { makeMerge } from './make-merge.ts'
import { again, outcomeOf, retrying, told } from './outcomes.ts'
import type { MergeScene } from './scene.ts'

/** What a merge would come to, made and verified in a tree that nobody sees. Nothing is written down, and nothing is left. */
export async function tryOut(
  scene: MergeScene,
  state: DelegateState,
  tip: string,
  onto: string,
): Promise<MergeOutcome> {
  const { workspace } = scene
  const { place } = workspace
  if (contains(place, onto, tip))
    return outcomeOf(state, 'would merge', { because: `it is on ${state.order.target} already` })
  const tree = treeToTryIn(place, state.id)
  try {
    const made = await makeMerge(scene, state, { tree, tip, onto })
    switch (made.is) {
      case 'held':
        return outcomeOf(state, 'waiting', { because: made.because, next: again(state) })
      case 'conflict':
        return {
          ...outcomeOf(state, 'conflicted', { because: made.because, next: retrying(state) }),
          files: made.files,
        }
      case 'red':
        return outcomeOf(state, 'red', { because: made.because, next: retrying(state) })
      case 'green':
        return {
          ...outcomeOf(state, 'would merge', { next: again(state) }),
          ...told(await contradictionsOf(workspace, state)),
        }
    }
  } finally {
    removeIntegrationTree(place, tree)
  }
}
