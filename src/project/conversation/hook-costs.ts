// Costs of hooks, one line per hook, until the turn ends. Every hook loads this file.
import { join } from 'node:path'
import { tryAppend, moveFile, writeCount } from '../../journal/write-files.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { randomHex } from '../../journal/ids.ts'
import type { HookCosts } from '../../session/entries.ts'

const SUFFIX = '.costs'
/** Background work: only its writes count. */
const BACKGROUND = 'beside'

/** `chars`: the length of what it injects. */
export function recordHookCost(
  folder: string,
  conversation: string,
  event: string,
  chars: number,
): void {
  const ms = Math.round(process.uptime() * 1000)
  tryAppend(join(folder, `${conversation}${SUFFIX}`), `${event} ${ms} ${chars} ${writeCount()}\n`)
}

export function recordBackgroundWrites(folder: string, conversation: string): void {
  tryAppend(join(folder, `${conversation}${SUFFIX}`), `${BACKGROUND} 0 0 ${writeCount()}\n`)
}

/** Named uniquely, so that they are journalled once. */
interface ClaimedHookCosts {
  readonly name: string
  readonly path: string
  readonly costs: HookCosts
}

/** Includes what a killed process claimed and did not journal. */
export function claimHookCosts(
  folder: string,
  conversations: readonly string[],
): readonly ClaimedHookCosts[] {
  for (const conversation of conversations) {
    const path = join(folder, `${conversation}${SUFFIX}`)
    // Durable: back under its old name after a power cut, it would count twice.
    if (statOrUndefined(path) !== undefined) moveFile(path, `${path}.${randomHex(6)}`)
  }
  return listFolder(folder).flatMap((name) => {
    const conversation = CLAIMED.exec(name)?.[1]
    if (conversation === undefined || !conversations.includes(conversation)) return []
    const path = join(folder, name)
    return [{ name, path, costs: readCosts(conversation, path) }]
  })
}

const CLAIMED = /^(.+)\.costs\.[0-9a-f]{12}$/
const PENDING = /^(.+)\.costs(?:\.([0-9a-f]{12}))?$/

interface PendingHookCosts {
  readonly costs: HookCosts
  readonly name: string
  /** Claimed by a process that may have been killed: the journal may have them. */
  readonly isClaimed: boolean
  readonly at: string
}

export function* pendingHookCosts(folder: string): Generator<PendingHookCosts> {
  for (const name of listFolder(folder)) {
    const [, conversation, claimed] = PENDING.exec(name) ?? []
    const at = conversation === undefined ? undefined : statOrUndefined(join(folder, name))?.mtime
    if (conversation !== undefined && at !== undefined)
      yield {
        costs: readCosts(conversation, join(folder, name)),
        name,
        isClaimed: claimed !== undefined,
        at: at.toISOString(),
      }
  }
}

export function onceKeyForCosts(name: string): string {
  return `costs:${name}`
}

function readCosts(conversation: string, path: string) {
  const events: Record<string, { times: number; ms: number; chars: number; gave: number }> = {}
  let writes = 0
  for (const line of readOrUndefined(path)?.toString('utf8').split('\n') ?? []) {
    // A truncated line is skipped.
    const [, event, ...numbers] = LINE.exec(line) ?? []
    if (event === undefined) continue
    const [ms = 0, chars = 0, written = 0] = numbers.map(Number)
    writes += written
    if (event === BACKGROUND) continue
    const total = (events[event] ??= { times: 0, ms: 0, chars: 0, gave: 0 })
    total.times += 1
    total.ms += ms
    total.chars += chars
    total.gave += Number(chars > 0)
  }
  return { conversation, events, writes }
}

const LINE = /^([A-Za-z]{1,40}) (\d{1,9}) (\d{1,9}) (\d{1,9})$/
