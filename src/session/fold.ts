import * as captured from './kinds/captured.ts'
import * as conversations from './kinds/conversations.ts'
import * as delegates from './kinds/delegates.ts'
import * as document from './kinds/document.ts'
import * as files from './kinds/files.ts'
import * as findings from './kinds/findings.ts'
import * as handoffs from './kinds/handoffs.ts'
import type { Fold, Folds, MutableState } from './kinds/kind.ts'
import { gitOf, nonEmptyString } from './kinds/read-fields.ts'
import * as session from './kinds/session.ts'
import { NeedsFullFold, type ItemList, type ListRule, type ListRules } from './kinds/item-list.ts'
import * as statements from './kinds/statements.ts'
import * as steps from './kinds/steps.ts'
import * as tasks from './kinds/tasks.ts'
import * as workflow from './kinds/workflow.ts'
import type { EntryData, EntryKind } from './entries.ts'
import { type RawEntry, effectiveEntries, sortedById } from './effective-entries.ts'
import type { Item, SessionState } from './state.ts'

export { NeedsFullFold } from './kinds/item-list.ts'

/** Raise it when the same entries fold to another state, so that older snapshots are refolded. */
export const FOLD_VERSION = 5

const MAX_ONCE_KEYS = 200

const FOLDS: Folds<EntryData, SessionState> = {
  ...session.fold,
  ...steps.fold,
  ...findings.fold,
  ...delegates.fold,
  ...files.fold,
  ...document.fold,
  ...handoffs.fold,
  ...captured.fold,
  ...statements.fold,
  ...conversations.fold,
  ...workflow.fold,
  ...tasks.fold,
}

const LIST_RULES: ListRules<SessionState> = {
  ...steps.listRules,
  ...findings.listRules,
  ...delegates.listRules,
  ...files.listRules,
  ...document.listRules,
  ...handoffs.listRules,
  ...captured.listRules,
  ...statements.listRules,
  ...conversations.listRules,
}

/** Pure, independent of the order of entries, and never throws on any data. */
export function fold(sessionId: string, entries: readonly RawEntry[]): SessionState {
  const state = initialState(sessionId)
  for (const entry of effectiveEntries(entries)) apply(state, entry)
  if (state.createdAt === '') state.createdAt = sortedById(entries)[0]?.at ?? ''
  const count = new Set(entries.map((entry) => entry.id)).size
  const last = entries.reduce((max, entry) => (entry.id > max.id ? entry : max), {
    id: '',
    at: state.updatedAt,
  })
  return {
    ...state,
    entryCount: count,
    lastId: last.id,
    updatedAt: last.at,
    once: newestOnceKeys(entries),
  }
}

/** Throws `NeedsFullFold` when an entry is late, or retracts or amends an earlier one. */
export function advance(state: SessionState, entries: readonly RawEntry[]): SessionState {
  const next = workingCopy(state)
  let known: Set<string> | undefined
  for (const entry of sortedById(entries)) {
    if (entry.id === next.lastId) continue
    const unknown = REFERENCES.find(
      (field) =>
        isReference(entry.data[field]) && !(known ??= itemIds(next)).has(entry.data[field]),
    )
    if (unknown !== undefined)
      throw new NeedsFullFold(`${entry.kind} ${entry.id} refers to what is not here`)
    known?.add(entry.id)
    if (entry.id < next.lastId) throw new NeedsFullFold(`late entry ${entry.id}`)
    if (foldOf(entry.kind)?.reachesBack === true)
      throw new NeedsFullFold(`${entry.kind} ${entry.id}`)
    if (entry.once !== undefined && next.once.includes(entry.once))
      throw new NeedsFullFold(`${entry.once} was noticed twice`)
    apply(next, entry)
    if (entry.once !== undefined) next.once = [...next.once, entry.once].slice(-MAX_ONCE_KEYS)
    next.entryCount += 1
    next.lastId = entry.id
    next.updatedAt = entry.at
  }
  return next
}

const REFERENCES = ['step', 'blocker', 'next', 'from', 'after', 'handoff'] as const

function isReference(value: unknown): value is string {
  return typeof value === 'string' && value !== 'start'
}

// An id that is not in a list may have been cut, retracted or dropped as a repeat; only a full fold can tell.
function itemIds(state: SessionState): Set<string> {
  return new Set(
    Object.values(state).flatMap((value) =>
      isItemList(value) ? value.items.map((item) => item.id) : [],
    ),
  )
}

function newestOnceKeys(entries: readonly RawEntry[]): readonly string[] {
  const keys = sortedById(entries).flatMap((entry) =>
    entry.once === undefined ? [] : [entry.once],
  )
  return [...new Set(keys)].slice(-MAX_ONCE_KEYS)
}

function apply(state: MutableState<SessionState>, entry: RawEntry): void {
  const kindFold = foldOf(entry.kind)
  kindFold?.apply(state, entry.data, entry, LIST_RULES as unknown as ListRules)
  if (state.tldr !== undefined && kindFold?.outdatesTldr !== false)
    state.tldr = { ...state.tldr, isOutdated: state.tldr.id !== entry.id }
  const git = gitOf(entry.data.git)
  // A delegate's merge was recorded on its target branch, which need not be this session's.
  if (git === undefined || nonEmptyString(entry.data.whose) !== undefined) return
  // Replaced as a whole: a detached head has no branch.
  state.git = git
  if (kindFold?.bindsBranch !== true) return
  if (git.branch === undefined) delete state.branch
  else state.branch = git.branch
}

function foldOf(kind: string): Fold<{ git: unknown; entry: unknown }, SessionState> | undefined {
  return Object.hasOwn(FOLDS, kind)
    ? (FOLDS[kind as EntryKind] as Fold<{ git: unknown; entry: unknown }, SessionState>)
    : undefined
}

function initialState(id: string): MutableState<SessionState> {
  const lists = Object.keys(LIST_RULES).map((name) => [name, { earlier: 0, items: [] }])
  return {
    id,
    // The name of a session whose first entry is unreadable.
    name: `session-${id.slice(-6)}`,
    title: `Session ${id.slice(-6)}`,
    status: 'active',
    goal: '',
    tasks: [],
    createdAt: '',
    updatedAt: '',
    compactions: 0,
    openedGit: {},
    git: {},
    ...(Object.fromEntries(lists) as Pick<MutableState<SessionState>, keyof typeof LIST_RULES>),
    fields: {},
    entryCount: 0,
    lastId: '',
    once: [],
  }
}

function workingCopy(state: SessionState): MutableState<SessionState> {
  const copied = Object.entries(state).map(([name, value]) => [
    name,
    isItemList(value) ? { ...value, items: [...value.items] } : value,
  ])
  return Object.fromEntries(copied) as MutableState<SessionState>
}

function isItemList(value: unknown): value is ItemList<Item> {
  return typeof value === 'object' && value !== null && 'items' in value
}

/** Cuts long lists to their recent end for a snapshot. Open and pinned items stay, so a resuming agent misses nothing. */
export function abridge(state: SessionState): SessionState {
  const lists = state as unknown as Readonly<Record<string, ItemList<Item>>>
  const rules = Object.entries(LIST_RULES as unknown as ListRules)
  const cut = rules.map(([name, rule]) => [name, keepRecent(lists[name]!, rule)])
  return { ...state, ...Object.fromEntries(cut) }
}

function keepRecent(list: ItemList<Item>, { recent, keeps, remembered }: ListRule<Item>) {
  if (recent === 'all') return list
  const firstKept = list.items.length - recent
  const isKept = (item: Item, index: number) => index >= firstKept || keeps?.(item) === true
  const items = list.items.filter(isKept)
  const earlier = list.earlier + list.items.length - items.length
  if (remembered === undefined || earlier === 0) return { earlier, items }
  const dropped = list.items.filter((item, index) => !isKept(item, index))
  const leftOut = [...(list.leftOut ?? []), ...dropped.map(({ text }) => text)]
  return leftOut.length === earlier && leftOut.length <= remembered
    ? { earlier, items, leftOut }
    : { earlier, items }
}
