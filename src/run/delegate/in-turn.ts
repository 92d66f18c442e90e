// Two commands never make, begin or settle delegates on top of each other: each waits for its turn, as long as whoever has it lives.
import { setTimeout as sleep, setTimeout as wait } from 'node:timers/promises'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { mintId } from '../../journal/ids.ts'
import type { Place } from '../../project/store/place.ts'
import { Claims } from '../loop/claims.ts'
import { thisProcess } from '../loop/start-run.ts'

const LOOK_MS = 25

/** Names and slots are given out one delegate at a time. */
export const MAKING = 'making a delegate'

/** Whoever changes where a delegate stands: takes it up, finds that nobody does any more, begins to merge it, gives it up. */
export function takingUp(id: string): string {
  return `taking up ${id}`
}

export async function inTurn<T>(
  place: Place,
  what: string,
  work: () => T | Promise<T>,
): Promise<T> {
  // Each call has a name of its own, so that two in one process wait for each other too.
  const claims = new Claims(place, mintId(undefined), thisProcess())
  try {
    while (!claims.take(what)) await sleep(LOOK_MS)
    return await work()
  } finally {
    claims.releaseAll()
  }
}

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
