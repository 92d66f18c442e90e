import { setTimeout as wait } from 'node:timers/promises'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { mintId } from '../../journal/ids.ts'
import type { Place } from '../../project/store/place.ts'
import { Claims } from '../loop/claims.ts'

/** What whoever merges has claimed: one at a time in a repository. */
export const QUEUE = 'merge queue'

const LOOK_AGAIN_MS = 200

/** Waits for its turn and answers how to let go of it; undefined when stopped before that. */
export async function takeQueue(
  place: Place,
  merger: ProcessMark,
  { isStopped, waiting }: { readonly isStopped: AbortSignal; readonly waiting: () => void },
): Promise<(() => void) | undefined> {
  // Each call has a name of its own, so that two in one process wait for each other too.
  const claims = new Claims(place, mintId(undefined), merger)
  const letGo = () => claims.releaseAll()
  for (let isFirst = true; !claims.take(QUEUE); isFirst = false) {
    if (isFirst) waiting()
    if (isStopped.aborted) {
      letGo()
      return undefined
    }
    await wait(LOOK_AGAIN_MS)
  }
  return letGo
}
