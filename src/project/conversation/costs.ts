// What hooks cost, a line for each in a file of the conversation's own until its turn ends: an entry for each would be more than
// they are worth. Written by every hook, so there is next to nothing here.
import { join } from 'node:path'
import { appendIfPossible, moveFile, writesMade } from '../../journal/files.ts'
import { namesIn, readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { randomHex } from '../../journal/random.ts'
import type { HookCosts } from '../../session/entries.ts'

const SUFFIX = '.costs'
/** What is done beside the agent's work, which nobody waits for: only what it wrote counts. */
const BESIDE = 'beside'

/** Notes what this process cost until now. `chars` is what it puts before the model. */
export function noteCost(folder: string, conversation: string, event: string, chars: number): void {
  const ms = Math.round(process.uptime() * 1000)
  appendIfPossible(
    join(folder, `${conversation}${SUFFIX}`),
    `${event} ${ms} ${chars} ${writesMade()}\n`,
  )
}

/** The same of a process that nobody waits for. */
export function noteWrites(folder: string, conversation: string): void {
  appendIfPossible(join(folder, `${conversation}${SUFFIX}`), `${BESIDE} 0 0 ${writesMade()}\n`)
}

/** Lines that were moved aside to be journalled. The name tells them apart from every other, so that they count once. */
export interface TakenCosts {
  readonly name: string
  readonly path: string
  readonly costs: HookCosts
}

/** Takes the lines of these conversations out of the way of hooks, with what a killed process took and did not get to journal. */
export function takeCosts(folder: string, conversations: readonly string[]): readonly TakenCosts[] {
  for (const conversation of conversations) {
    const path = join(folder, `${conversation}${SUFFIX}`)
    // Made durable: back under its old name after a power cut, it would be counted again.
    if (statOrUndefined(path) !== undefined) moveFile(path, `${path}.${randomHex(6)}`)
  }
  return namesIn(folder).flatMap((name) => {
    const conversation = TAKEN.exec(name)?.[1]
    if (conversation === undefined || !conversations.includes(conversation)) return []
    const path = join(folder, name)
    return [{ name, path, costs: costsIn(conversation, path) }]
  })
}

const TAKEN = /^(.+)\.costs\.[0-9a-f]{12}$/
const WAITING = /^(.+)\.costs(?:\.([0-9a-f]{12}))?$/

export interface WaitingCosts {
  readonly costs: HookCosts
  readonly name: string
  /** Moved aside to be journalled by a process that may have been killed at it: the journal may have them already. */
  readonly isTaken: boolean
  /** When they were last added to. */
  readonly at: string
}

/** What hooks have noted and nobody has journalled and removed, by conversation. */
export function* waitingCosts(folder: string): Generator<WaitingCosts> {
  for (const name of namesIn(folder)) {
    const [, conversation, taken] = WAITING.exec(name) ?? []
    const at = conversation === undefined ? undefined : statOrUndefined(join(folder, name))?.mtime
    if (conversation !== undefined && at !== undefined)
      yield {
        costs: costsIn(conversation, join(folder, name)),
        name,
        isTaken: taken !== undefined,
        at: at.toISOString(),
      }
  }
}

/** What the name of lines that were taken is in the journal. */
export function onceOfCosts(name: string): string {
  return `costs:${name}`
}

function costsIn(conversation: string, path: string): HookCosts {
  const events: Record<string, { times: number; ms: number; chars: number; gave: number }> = {}
  let writes = 0
  for (const line of readOrUndefined(path)?.toString('utf8').split('\n') ?? []) {
    // One that a full disk cut off is passed over.
    const [, event, ...figures] = LINE.exec(line) ?? []
    if (event === undefined) continue
    const [ms = 0, chars = 0, written = 0] = figures.map(Number)
    writes += written
    if (event === BESIDE) continue
    const known = (events[event] ??= { times: 0, ms: 0, chars: 0, gave: 0 })
    known.times += 1
    known.ms += ms
    known.chars += chars
    known.gave += Number(chars > 0)
  }
  return { conversation, events, writes }
}

const LINE = /^([A-Za-z]{1,40}) (\d{1,9}) (\d{1,9}) (\d{1,9})$/
