import { setTimeout as sleep } from 'node:timers/promises'
import type { Rate } from '../../src/cli/study/parameters.ts'
import { type Chance, type Trials, Deal, LANES, wrongIn } from './trials.ts'
import type { Deed, Order, StoreName } from './orders.ts'
import type { Worker } from './worker-process.ts'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { statOrUndefined } from '../../src/journal/read-files.ts'
import type { Lab } from './lab.ts'
import { isTorn, truthIn } from './stores.ts'

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

/** Above what SQLite's files come to. */
const LIMIT_BYTES = 320 * 1024
/** The records that are to come take about twice as much. */
const MOST_ROOM = 3000
const POURED_BYTES = 4_000_000
/** Each so many trials are cut short by a kill, which takes much longer to arrange than a limit. */
const KILL_EVERY = 10

/**
 * Cuts writes short in the middle, by a limit that they meet and by killing the writer, and looks whether the session can still be read
 * and gone on with. Only what left a piece of a write behind is a trial.
 */
export async function measureUnreadable(trials: Trials): Promise<Rate> {
  const { lab, store } = trials
  const deal = new Deal(trials)
  const block = blockBytes(lab)
  await lab.atOnce(LANES, async () => {
    const limited = lab.worker(Math.round(LIMIT_BYTES / block))
    const other = lab.worker()
    for (let turn = deal.next(); turn !== undefined; turn = deal.next()) {
      const { number, chance } = turn
      const root = lab.world()
      await other.complete({ do: 'make', store, root, tasks: ['task'], items: [] })
      const did =
        number % KILL_EVERY === KILL_EVERY - 1
          ? await killWhileWriting(lab, { store, root, number, chance })
          : await meetLimit(limited, { store, root, number, chance })
      if (isTorn(store, root)) deal.settle(await isUnreadable(other, { store, root, did }))
      else deal.settle(undefined)
      lab.remove(root)
    }
    await Promise.all([limited, other].map((worker) => lab.end(worker)))
  })
  return deal.rate
}

interface Cut {
  readonly store: StoreName
  readonly root: string
  readonly number: number
  readonly chance: Chance
}

async function meetLimit(
  writer: Worker,
  { store, root, number, chance }: Cut,
): Promise<readonly Deed[]> {
  const deeds = Array.from({ length: 20 }, (_, index) => deedFor(`cut ${number} ${index}`, chance))
  const room = chance.between(1, MOST_ROOM)
  const order: Order = { do: 'fill', store, root, room, limit: LIMIT_BYTES, deeds }
  const { did, failed } = await writer.serve(order)
  if (failed === undefined) throw new Error('a trial could not be made: no write met the limit')
  return did
}

function deedFor(name: string, chance: Chance): Deed {
  const text = `${name} ${'and so on '.repeat(chance.between(1, 40))}`.trim()
  return chance.next() < 0.5 ? { discovery: text } : { decision: text }
}

/** Watches a file grow by one large write, and kills the writer when a part of it is there. */
async function killWhileWriting(
  lab: Lab,
  { store, root, number, chance }: Cut,
): Promise<readonly Deed[]> {
  const writer = lab.worker()
  // Within its first half: a kill takes effect a moment later.
  const wanted = (chance.next() * POURED_BYTES) / 2
  const { did } = await writer.begin(
    { do: 'pour', store, root, name: `poured ${number}`, bytes: POURED_BYTES },
    () => {
      const path = truthIn(store, root)
      const before = sizeOf(path)
      // Nothing else is looked after meanwhile: the write is over within a few milliseconds.
      for (const from = performance.now(); performance.now() - from < PATIENCE_MS;) {
        const size = sizeOf(path)
        if (size !== before && size > wanted) break
      }
      writer.kill()
    },
  )
  await lab.end(writer)
  return did
}

const PATIENCE_MS = 5000

function sizeOf(path: string): number {
  return statOrUndefined(path)?.size ?? 0
}

async function isUnreadable(
  other: Worker,
  { store, root, did }: { store: StoreName; root: string; did: readonly Deed[] },
): Promise<boolean> {
  const deed = { discovery: 'gone on with' }
  const { standings } = await other.serve({ do: 'go on', store, root, deed })
  if (standings === undefined) return true
  const [before, after] = standings
  return wrongIn(before!, did).length > 0 || wrongIn(after!, [...did, deed]).length > 0
}

/** What `ulimit -f` counts in, which is not the same in every shell. */
function blockBytes(lab: Lab): number {
  const path = join(lab.folder, 'block')
  spawnSync('/bin/sh', ['-c', 'ulimit -f 1; head -c 4096 /dev/zero > "$1"', 'sh', path], {
    stdio: 'ignore',
  })
  const size = statOrUndefined(path)?.size
  if (size !== 512 && size !== 1024) throw new Error(`this shell has no limit for files (${size})`)
  return size
}
