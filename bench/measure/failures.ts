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

/** Several kills per session. */
const KILLS_EACH = 8
const TASKS_EACH = 2
const LEAST_MS = 5
const MOST_MS = 150

interface World {
  readonly root: string
  readonly acknowledged: Deed[]
  readonly tasks: string[]
}

/** Kills writers at random instants and checks that everything acknowledged is there. */
export async function measureStale(trials: Trials): Promise<Rate> {
  const { lab, store } = trials
  const deal = new Deal(trials)
  // Two per core: while one waits for the disk, another starts.
  const readers = Array.from({ length: LANES }, () => lab.worker())
  await lab.atOnce(2 * LANES, async (lane) => {
    const reader = readers[lane % LANES]!
    let world: World | undefined
    for (let turn = deal.next(); turn !== undefined; turn = deal.next()) {
      const writer = lab.worker()
      if (world === undefined) {
        // A growing session.json would get slower and slower.
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
      // The damage would persist after the next kill.
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
  // It runs until it is killed, unless something is broken.
  if (end !== undefined || did.length === 0)
    throw new Error(`a trial could not be made: ${end?.failed ?? 'nothing was recorded'}`)
  return did
}

/** As many concurrent agents as in the study. */
const MOST_WRITERS = 3
const STEPS_EACH = 6
/** Enough time for all of them to read their order. */
const TOGETHER_IN_MS = 10

/**
 * Lets processes write to one session concurrently and checks that everything acknowledged is there
 * exactly once.
 */
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
      // No writer was interrupted, so nothing may be missing.
      const isAll = did.length === orders.flat().length
      const { standings } = await reader.serve({ do: 'read', store, root })
      deal.settle(!isAll || standings === undefined || wrongIn(standings[0]!, did).length > 0)
      lab.remove(root)
    }
    await Promise.all([...writers, reader].map((worker) => lab.end(worker)))
  })
  return deal.rate
}

/** A task from start to end, and a checklist item between those of the other writers. */
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

/** Above the size of SQLite's files. */
const LIMIT_BYTES = 320 * 1024
/** The records to come take about twice as much. */
const MOST_ROOM = 3000
const POURED_BYTES = 4_000_000
/** Every n-th trial uses a kill, which takes much longer to set up than a limit. */
const KILL_EVERY = 10

/**
 * Truncates writes by a file size limit or by killing the writer, and checks that the session can
 * still be read and continued. Only trials that left a partial write count.
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

/** Kills the writer while one large write is partly on disk. */
async function killWhileWriting(
  lab: Lab,
  { store, root, number, chance }: Cut,
): Promise<readonly Deed[]> {
  const writer = lab.worker()
  // In its first half, because a kill takes effect a moment later.
  const wanted = (chance.next() * POURED_BYTES) / 2
  const { did } = await writer.begin(
    { do: 'pour', store, root, name: `poured ${number}`, bytes: POURED_BYTES },
    () => {
      const path = truthIn(store, root)
      const before = sizeOf(path)
      // A busy loop: the write takes only a few milliseconds.
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

/** The unit of `ulimit -f`, which differs between shells. */
function blockBytes(lab: Lab): number {
  const path = join(lab.folder, 'block')
  spawnSync('/bin/sh', ['-c', 'ulimit -f 1; head -c 4096 /dev/zero > "$1"', 'sh', path], {
    stdio: 'ignore',
  })
  const size = statOrUndefined(path)?.size
  if (size !== 512 && size !== 1024) throw new Error(`this shell has no limit for files (${size})`)
  return size
}
