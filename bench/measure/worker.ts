// The program that the measurements kill, interrupt and run concurrently.
import type { Readable } from 'node:stream'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { streamLines } from '../../src/harness/process/spawn-guarded.ts'
import { writeStdout } from '../../src/journal/write-files.ts'
import { statOrUndefined } from '../../src/journal/read-files.ts'
import { type Store, jsonStore, loadLibrary, stintStore, truthIn } from './stores.ts'
import type { Answer, Deed, End, Order } from './orders.ts'
import { defined } from '../../src/text/defined.ts'

const [, , library, parent] = process.argv as [string, string, string, string]

async function serveOrders(input: Readable): Promise<void> {
  let opened: Store | undefined
  for await (const line of streamLines(input)) {
    const order = JSON.parse(line) as Order
    const open = async () =>
      order.store === 'stint'
        ? stintStore(await loadLibrary(library), order.root)
        : jsonStore(order.root)
    const store = opened ?? (await open())
    opened = order.do === 'open' ? store : undefined
    answer(await serve(order, store, open))
    if (opened === undefined) store.close()
  }
}

async function serve(order: Order, store: Store, openAgain: () => Promise<Store>): Promise<End> {
  try {
    switch (order.do) {
      case 'make':
        await store.make(order.tasks, order.items)
        return { end: true }
      case 'work':
        return await workForEver(store, order.tasks, order.name)
      case 'open':
        await store.open()
        return { end: true }
      case 'record':
        await sleep(order.at - Date.now())
        return await recordAll(store, order.deeds)
      case 'fill':
        await fill(store, order)
        for (const deed of order.deeds) await record(store, deed)
        return { end: true }
      case 'pour':
        await record(store, { discovery: `${order.name} is small` })
        await store.pour(largeTexts(order.name, order.bytes))
        return { end: true }
      case 'read':
        return { end: true, standings: [await store.standing()] }
      case 'go on': {
        const before = await store.standing()
        await record(store, order.deed)
        const again = await openAgain()
        const after = await again.standing()
        again.close()
        return { end: true, standings: [before, after] }
      }
    }
  } catch (error) {
    return { end: true, failed: error instanceof Error ? error.message : String(error) }
  }
}

/** Tasks with steps, discoveries and decisions; once all tasks are done, more steps. */
async function workForEver(store: Store, tasks: readonly string[], name: string): Promise<never> {
  for (let number = 0; ; number += 1) {
    const task = tasks[Math.floor(number / STEPS_EACH)]
    if (task !== undefined && number % STEPS_EACH === 0)
      await record(store, { task, is: 'working' })
    const step = `${name} step ${String(number).padStart(4, '0')}`
    await record(store, { step, is: 'working' })
    await record(store, { discovery: `${step} found` })
    await record(store, { decision: `${step} decided` })
    await record(store, { step, is: 'done' })
    // Never reopened: an unacknowledged reopening might have been written.
    if (task !== undefined && number % STEPS_EACH === STEPS_EACH - 1)
      await record(store, { task, is: 'done' })
    await turn()
  }
}

async function recordAll(store: Store, deeds: readonly Deed[]): Promise<End> {
  let failed: string | undefined
  for (const deed of deeds) {
    try {
      await record(store, deed)
    } catch (error) {
      // Not acknowledged; the worker continues.
      failed = error instanceof Error ? error.message : String(error)
    }
  }
  return { end: true, ...defined({ failed }) }
}

async function record(store: Store, deed: Deed): Promise<void> {
  await store.record(deed)
  answer({ did: deed })
}

async function fill(
  store: Store,
  { store: name, root, limit, room }: Extract<Order, { do: 'fill' }>,
): Promise<void> {
  const size = () => statOrUndefined(truthIn(name, root))?.size ?? 0
  const before = size()
  await store.record({ discovery: words(1000) })
  const around = size() - before - 1000
  await store.record({ discovery: words(limit - room - size() - around) })
}

const STEPS_EACH = 3
const MOST_IN_ONE = 500_000

function largeTexts(name: string, bytes: number): readonly string[] {
  return Array.from(
    { length: Math.ceil(bytes / MOST_IN_ONE) },
    (_, index) => `${name} is large, part ${index}: ${words(MOST_IN_ONE)}`,
  )
}

function words(length: number): string {
  return `${'tides come and go '.repeat(Math.ceil(length / 18)).slice(0, Math.max(0, length - 1))}.`
}

function answer(line: Answer): void {
  // The parent was killed, and nothing else would end this process.
  if (process.ppid !== Number(parent)) process.exit()
  writeStdout(`${JSON.stringify(line)}\n`)
}

await serveOrders(process.stdin)
