// Two commands never make, begin or settle delegates on top of each other: each waits for its turn, as long as whoever has it lives.
import { setTimeout as sleep } from 'node:timers/promises'
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
