// Background agents that work for a session, folded: what each was asked for, and what became of it.
import type { DelegateOutcome, EntryKind } from './entries.ts'
import { fields, item, optional, str } from './entry-fields.ts'
import type { DelegateLine, SessionState } from './state.ts'
import type { WorkingShelf } from './working-shelf.ts'
import type { Handler } from './working-state.ts'

export const DELEGATES: { readonly [K in EntryKind]?: Handler<K> } = {
  'delegate.begun': (state, data, entry) => {
    const delegate = str(data.delegate)
    if (delegate === '') return
    const known = knownAs(state.delegates, delegate)
    // Begun again it keeps its place, and what came of it before no longer holds.
    put(state.delegates, {
      ...(known === undefined
        ? item(entry, data.what)
        : { id: known.id, text: str(data.what), at: known.at }),
      delegate,
      name: str(data.name),
      status: 'running',
      ...fields(data, 'as', 'task', 'group', 'branch'),
      updatedAt: entry.at,
    })
  },
  'delegate.reported': (state, data, entry) => {
    const delegate = str(data.delegate)
    if (delegate === '' || !isOutcome(data.status)) return
    const known = knownAs(state.delegates, delegate)
    const { summary: _summary, because: _because, ...before }: Partial<DelegateLine> = known ?? {}
    put(state.delegates, {
      ...item(entry, data.what),
      ...before,
      delegate,
      name: optional(data.name) ?? known?.name ?? '',
      status: data.status,
      ...fields(data, 'task', 'branch', 'summary', 'because', 'commit', 'report'),
      reported: entry.id,
      updatedAt: entry.at,
    })
  },
}

const OUTCOMES: ReadonlySet<unknown> = new Set<DelegateOutcome>([
  'ready',
  'merged',
  'conflicted',
  'failed',
  'parked',
  'discarded',
])

function isOutcome(value: unknown): value is DelegateOutcome {
  return OUTCOMES.has(value)
}

/** What became of delegates behind an entry, the latest last. */
export function reportedSince(
  { delegates }: Pick<SessionState, 'delegates'>,
  since: string,
): readonly DelegateLine[] {
  return delegates.items
    .filter(({ reported = '' }) => reported > since)
    .toSorted((a, b) => (a.reported! < b.reported! ? -1 : 1))
}

/** Nothing more is to be done about it. */
export function isSettled({ status }: DelegateLine): boolean {
  return status === 'merged' || status === 'discarded'
}

function knownAs(list: WorkingShelf<DelegateLine>, delegate: string): DelegateLine | undefined {
  return list.items.find((line) => line.delegate === delegate)
}

/** How many are kept of which nothing more is to be done; the journal has all of them. */
const SETTLED = 24

function put(list: WorkingShelf<DelegateLine>, line: DelegateLine): void {
  const index = list.items.findIndex(({ delegate }) => delegate === line.delegate)
  if (index === -1) list.items.push(line)
  else list.items[index] = line
  const settled = list.items.filter(isSettled)
  if (settled.length <= SETTLED) return
  list.items.splice(list.items.indexOf(settled[0]!), 1)
  list.earlier += 1
}
