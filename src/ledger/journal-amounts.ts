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

/** Agent programs truncate command output at this length, so no more than this is saved. */
const MAX_OUTPUT = 30_000

export function journalAmounts(entries: readonly RawEntry[]): JournalAmounts {
  const sums = new DailyAmounts()
  const hookTotals = new Map<string, HookTotals>()
  const conversations = new Map<string, JoinedConversation>()
  for (const entry of effectiveEntries(entries)) {
    const { at, by, data, kind } = entry
    const day = dayOf(at)
    const totals = hookTotals.get(day) ?? { entries: 0, given: 0, givenChars: 0, ran: NO_AMOUNTS }
    if (by === 'hook') totals.entries += 1
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
        totals.given += 1
        totals.givenChars += chars
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
        sums.add(day, saving('digest', tokensSaved(Math.min(bytes, MAX_OUTPUT), shown)))
    } else if (kind === 'hooks.ran') totals.ran = addAmounts(totals.ran, hookCostAmounts(data))
    hookTotals.set(day, totals)
  }
  for (const [day, totals] of hookTotals) sums.add(day, hookAmounts(totals))
  return { days: sums.byDay, conversations: [...conversations.values()] }
}

interface HookTotals {
  entries: number
  given: number
  givenChars: number
  ran: Amounts
}

/** Injections are also recorded on their own; older journals have only those. */
function hookAmounts({ entries, given, givenChars, ran }: HookTotals) {
  const injectedChars = Math.max(givenChars, ran.injectedChars)
  return {
    ...ran,
    injections: Math.max(given, ran.injections),
    injectedChars,
    injectedTokens: highTokenEstimate(injectedChars),
    writes: Math.max(entries, ran.writes),
  }
}

type EntryFields = Readonly<Record<string, unknown>>

/** Compared with the full document. TOON savings are part of that, so they are subtracted. */
function savedByContext(data: EntryFields, chars: number) {
  const documentChars = asCount(data.whole)
  const toon = asObject(data.toon)
  const [toonChars, jsonChars] = [asCount(toon?.chars), asCount(toon?.json)]
  const byToon =
    toonChars === undefined || jsonChars === undefined
      ? undefined
      : tokensSaved(jsonChars, toonChars)
  const pointers =
    documentChars === undefined
      ? {}
      : saving('pointers', tokensSaved(documentChars, chars) - (byToon ?? 0)).saved
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

// A resumed conversation saves what it reads less than the first one before its first edit.

export interface FirstEdit {
  readonly read?: number
}

const EDIT_TOOLS =
  /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write|patch|replace|write_file|edit_file)$/

export function firstEdit(store: ConversationStore, conversation: string): FirstEdit {
  let first: number | undefined
  for (const item of store.read(conversation, { isBrief: true })) {
    // After a compaction the context size no longer shows how much was read.
    if (item.type === 'compaction') return {}
    if (item.type !== 'message' || item.agent !== undefined || item.isFailure === true) continue
    const tokens = contextTokens(item)
    if (tokens === undefined) continue
    first ??= tokens
    if (item.parts.some((part) => part.type === 'tool use' && EDIT_TOOLS.test(part.name)))
      return { read: Math.max(0, tokens - first) }
  }
  return {}
}

function contextTokens({ context, usage }: Message) {
  if (context !== undefined) return context.tokens
  return usage === undefined ? undefined : usage.input + usage.cacheRead + usage.cacheWritten
}

/** Minus what was injected and what other savings count. Assumes it would have read as much as the first. */
export function resumeSavings(
  conversations: readonly JoinedConversation[],
  edit: (conversation: string) => FirstEdit,
  setups: Readonly<Record<string, number>>,
): readonly { readonly at: string; readonly tokens: number }[] {
  const [first, ...later] = conversations
  const coldRead = first === undefined || later.length === 0 ? undefined : edit(first.id).read
  if (first === undefined || coldRead === undefined) return []
  return later.flatMap(({ id, at, given, saved }) => {
    const { read } = edit(id)
    if (read === undefined) return []
    // In a run the first gets a setup too; only the difference is the cost of resuming.
    const extraSetup = Math.max(0, (setups[id] ?? 0) - (setups[first.id] ?? 0))
    return [{ at, tokens: coldRead - read - highTokenEstimate(given) - extraSetup - saved }]
  })
}
