import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Rate } from '../contract.ts'
import { statOrUndefined } from '../../../journal/look.ts'
import type { Chance } from './chance.ts'
import { wrongIn } from './judge.ts'
import type { Lab } from './lab.ts'
import { isTorn, truthIn } from './truth.ts'
import { Deal, LANES, type Trials } from './trials.ts'
import type { Deed, Order, StoreName } from './worker/orders.ts'
import type { Worker } from './workers.ts'

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
