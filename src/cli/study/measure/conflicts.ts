import type { Rate } from '../contract.ts'
import { wrongIn } from './judge.ts'
import { Deal, LANES, type Trials } from './trials.ts'
import type { Deed } from './worker/orders.ts'

/** As many agents as the study lets work at once. */
const MOST_WRITERS = 3
const STEPS_EACH = 6
/** Enough for all of them to have read their order. */
const TOGETHER_IN_MS = 10

/** Lets processes record at the same time in one session, and looks whether just what was acknowledged is there, once each. */
export async function measureConflicts(trials: Trials): Promise<Rate> {
  const { lab, store } = trials
  const deal = new Deal(trials)
  await lab.atOnce(LANES, async () => {
    const writers = Array.from({ length: MOST_WRITERS }, () => lab.worker())
    const reader = lab.worker()
    for (let turn = deal.next(); turn !== undefined; turn = deal.next()) {
      const root = lab.world()
      const some = writers.slice(0, turn.chance.between(2, MOST_WRITERS))
      const orders = some.map((_, index) => deedsOf(`writer-${index}`))
      await reader.complete({
        do: 'make',
        store,
        root,
        tasks: orders.map((_, index) => `task-of-writer-${index}`),
        items: orders.map((_, index) => `item of writer-${index}`),
      })
      await Promise.all(some.map((writer) => writer.complete({ do: 'open', store, root })))
      const at = Date.now() + TOGETHER_IN_MS
      const served = await Promise.all(
        some.map((writer, index) =>
          writer.serve({ do: 'record', store, root, at, deeds: orders[index]! }),
        ),
      )
      const did = served.flatMap((one) => one.did)
      // Nobody was kept from writing, and so nothing may be missing.
      const isAll = did.length === orders.flat().length
      const { standings } = await reader.serve({ do: 'read', store, root })
      deal.settle(!isAll || standings === undefined || wrongIn(standings[0]!, did).length > 0)
      lab.remove(root)
    }
    await Promise.all([...writers, reader].map((worker) => lab.end(worker)))
  })
  return deal.rate
}

/** A task worked on from its beginning to its end, and an item ticked that stands between those of the others. */
function deedsOf(writer: string): readonly Deed[] {
  const steps = Array.from({ length: STEPS_EACH }, (_, index) => `${writer} step ${index}`)
  const task = `task-of-${writer}`
  return [
    ...steps.flatMap((step): Deed[] => [
      { step, is: 'working' },
      { discovery: `${step} found` },
      { decision: `${step} decided` },
      { step, is: 'done' },
    ]),
    { task, is: 'working' },
    { ticked: `item of ${writer}` },
    { task, is: 'done' },
  ]
}
