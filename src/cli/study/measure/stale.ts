import { setTimeout as sleep } from 'node:timers/promises'
import type { Rate } from '../contract.ts'
import type { Chance } from './chance.ts'
import { wrongIn } from './judge.ts'
import { Deal, LANES, type Trials } from './trials.ts'
import type { Deed, Order } from './worker/orders.ts'
import type { Worker } from './workers.ts'

/** One after the other in one session, which so has to survive several kills. */
const KILLS_EACH = 8
const TASKS_EACH = 2
const LEAST_MS = 5
const MOST_MS = 150

interface World {
  readonly root: string
  readonly acknowledged: Deed[]
  readonly tasks: string[]
}

/** Kills processes that record at random instants, and looks whether everything that was acknowledged is there. */
export async function measureStale(trials: Trials): Promise<Rate> {
  const { lab, store } = trials
  const deal = new Deal(trials)
  // Two to a core: while one waits for the disk, another one starts.
  const readers = Array.from({ length: LANES }, () => lab.worker())
  await lab.atOnce(2 * LANES, async (lane) => {
    const reader = readers[lane % LANES]!
    let world: World | undefined
    for (let turn = deal.next(); turn !== undefined; turn = deal.next()) {
      const writer = lab.worker()
      if (world === undefined) {
        // What a session.json holds at the end would make it slower and slower.
        const tasks = names(turn.number, store === 'stint' ? KILLS_EACH : 1)
        world = { root: lab.world(), acknowledged: [], tasks }
        await reader.complete({ do: 'make', store, root: world.root, tasks, items: [] })
      }
      const { root } = world
      const tasks = world.tasks.splice(0, TASKS_EACH)
      const did = await killAtRandom(writer, turn.chance, {
        do: 'work',
        store,
        root,
        tasks,
        name: `trial ${turn.number}`,
      })
      await lab.end(writer)
      world.acknowledged.push(...did)
      const { standings } = await reader.serve({ do: 'read', store, root })
      const isStale =
        standings === undefined || wrongIn(standings[0]!, world.acknowledged).length > 0
      deal.settle(isStale)
      // What is wrong now would be wrong after the next kill, too.
      if (isStale || world.tasks.length === 0) {
        lab.remove(root)
        world = undefined
      }
    }
  })
  await Promise.all(readers.map((reader) => lab.end(reader)))
  return deal.rate
}

function names(number: number, kills: number): string[] {
  return Array.from(
    { length: kills * TASKS_EACH },
    (_, index) => `task-${number}-${String(index).padStart(2, '0')}`,
  )
}

async function killAtRandom(
  writer: Worker,
  chance: Chance,
  order: Order,
): Promise<readonly Deed[]> {
  const after = chance.between(LEAST_MS, MOST_MS)
  let killing: Promise<void> | undefined
  const { did, end } = await writer.begin(order, () => {
    killing ??= sleep(after).then(() => writer.kill())
  })
  await killing
  // It works until it is killed, unless something is wrong with it.
  if (end !== undefined || did.length === 0)
    throw new Error(`a trial could not be made: ${end?.failed ?? 'nothing was recorded'}`)
  return did
}
