import type { Message } from '../history/items.ts'
import type { ConversationStore } from '../history/store.ts'
import { type RawEntry, effectiveEntries } from '../session/effective-entries.ts'
import { asCount, asObject } from '../text/json-fields.ts'
import {
  type Amounts,
  type AmountsByDay,
  NO_AMOUNTS,
  DailyAmounts,
  addAmounts,
  dayOf,
  saving,
  highTokenEstimate,
  sumSavedTokens,
  tokensSaved,
} from './amounts.ts'

export interface JoinedConversation {
  readonly id: string
  readonly at: string
  readonly given: number
  readonly saved: number
}

export interface JournalAmounts {
  readonly days: AmountsByDay
  readonly conversations: readonly JoinedConversation[]
}

/** Agent programs cut command output at this length, so more was never avoided. */
const MOST_OF_OUTPUT = 30_000

export function journalAmounts(entries: readonly RawEntry[]): JournalAmounts {
  const sums = new DailyAmounts()
  const noticed = new Map<string, Noticed>()
  const conversations = new Map<string, JoinedConversation>()
  for (const entry of effectiveEntries(entries)) {
    const { at, by, data, kind } = entry
    const day = dayOf(at)
    const ofDay = noticed.get(day) ?? { entries: 0, given: 0, givenChars: 0, ran: NO_AMOUNTS }
    if (by === 'hook') ofDay.entries += 1
    else sums.add(day, { writes: 1 })
    const conversation = data.conversation as string
    if (
      kind === 'conversation.joined' &&
      typeof conversation === 'string' &&
      !conversations.has(conversation)
    )
      conversations.set(conversation, { id: conversation, at, given: 0, saved: 0 })
    if (kind === 'context.given') {
      const chars = asCount(data.chars) ?? 0
      if (by === 'hook') {
        ofDay.given += 1
        ofDay.givenChars += chars
      } else
        sums.add(day, {
          injections: 1,
          injectedChars: chars,
          injectedTokens: highTokenEstimate(chars),
        })
      const known = conversations.get(String(conversation))
      const saved = savedByContext(data, chars)
      if (known !== undefined)
        conversations.set(known.id, {
          ...known,
          given: known.given + chars,
          saved: known.saved + sumSavedTokens(saved),
        })
      sums.add(day, saved)
    } else if (kind === 'output.kept') {
      const [bytes, shown] = [asCount(data.bytes), asCount(data.shown)]
      if (bytes !== undefined && shown !== undefined)
        sums.add(day, saving('digest', tokensSaved(Math.min(bytes, MOST_OF_OUTPUT), shown)))
    } else if (kind === 'hooks.ran') ofDay.ran = addAmounts(ofDay.ran, hookCostAmounts(data))
    noticed.set(day, ofDay)
  }
  for (const [day, ofDay] of noticed) sums.add(day, ofHooks(ofDay))
  return { days: sums.byDay, conversations: [...conversations.values()] }
}

interface Noticed {
  entries: number
  given: number
  givenChars: number
  ran: Amounts
}

/** Injections are also recorded on their own; older journals have only those. */
function ofHooks({ entries, given, givenChars, ran }: Noticed) {
  const injectedChars = Math.max(givenChars, ran.injectedChars)
  return {
    ...ran,
    injections: Math.max(given, ran.injections),
    injectedChars,
    injectedTokens: highTokenEstimate(injectedChars),
    writes: Math.max(entries, ran.writes),
  }
}

type Data = Readonly<Record<string, unknown>>

/** Against the whole document. TOON savings are a part of that, so they count as one or the other. */
function savedByContext(data: Data, chars: number) {
  const whole = asCount(data.whole)
  const toon = asObject(data.toon)
  const [told, json] = [asCount(toon?.chars), asCount(toon?.json)]
  const byToon = told === undefined || json === undefined ? undefined : tokensSaved(json, told)
  const pointers =
    whole === undefined ? {} : saving('pointers', tokensSaved(whole, chars) - (byToon ?? 0)).saved
  return { saved: { ...(byToon === undefined ? {} : saving('toon', byToon).saved), ...pointers } }
}

export function hookCostAmounts(data: {
  readonly events?: unknown
  readonly writes?: unknown
}): Amounts {
  const events = Object.values(asObject(data.events) ?? {}).map((event) => asObject(event) ?? {})
  const sum = (name: string) =>
    events.reduce((total, event) => total + (asCount(event[name]) ?? 0), 0)
  const injectedChars = sum('chars')
  return {
    injections: sum('gave'),
    injectedChars,
    injectedTokens: highTokenEstimate(injectedChars),
    hooks: sum('times'),
    hookMs: sum('ms'),
    writes: asCount(data.writes) ?? 0,
    saved: {},
  }
}

// The saving is the difference between what the first conversation of a session and a resumed one read before they changed anything.

export interface FirstEdit {
  readonly read?: number
}

const EDITING =
  /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write|patch|replace|write_file|edit_file)$/

export function firstEdit(store: ConversationStore, conversation: string): FirstEdit {
  let first: number | undefined
  for (const item of store.read(conversation, { isBrief: true })) {
    // A compaction removes what was read, and with it the measure.
    if (item.type === 'compaction') return {}
    if (item.type !== 'message' || item.agent !== undefined || item.isFailure === true) continue
    const carried = carriedBy(item)
    if (carried === undefined) continue
    first ??= carried
    if (item.parts.some((part) => part.type === 'tool use' && EDITING.test(part.name)))
      return { read: Math.max(0, carried - first) }
  }
  return {}
}

function carriedBy({ context, usage }: Message) {
  if (context !== undefined) return context.tokens
  return usage === undefined ? undefined : usage.input + usage.cacheRead + usage.cacheWritten
}

/** Less what was injected for it and what other savings count. Assumes it would have read as much as the first. */
export function resumeSavings(
  conversations: readonly JoinedConversation[],
  edit: (conversation: string) => FirstEdit,
  setups: Readonly<Record<string, number>>,
): readonly { readonly at: string; readonly tokens: number }[] {
  const [first, ...later] = conversations
  const cold = first === undefined || later.length === 0 ? undefined : edit(first.id).read
  if (first === undefined || cold === undefined) return []
  return later.flatMap(({ id, at, given, saved }) => {
    const { read } = edit(id)
    if (read === undefined) return []
    // In a run the first is given something too; only the difference is the cost of resuming.
    const more = Math.max(0, (setups[id] ?? 0) - (setups[first.id] ?? 0))
    return [{ at, tokens: cold - read - highTokenEstimate(given) - more - saved }]
  })
}
