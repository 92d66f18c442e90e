import { type Folds, type Kinds, outdatesWrittenTldr } from './kind.ts'
import { type Usage, fields, item, nonEmptyString, str } from './read-fields.ts'
import {
  type Item,
  KEEP_ALL,
  type ItemList,
  type ListRules,
  type MutableList,
} from './item-list.ts'

export interface DelegateData {
  'delegate.begun': {
    delegate: string
    name: string
    what: string
    as?: string
    task?: string
    group?: string
    branch: string
  }
  'delegate.reported': {
    delegate: string
    name: string
    status: DelegateOutcome
    what?: string
    summary?: string
    because?: string
    commit?: string
    branch?: string
    /** The report of a read-only delegate, in `.sessions/`. */
    report?: string
    files?: readonly string[]
    usage?: Usage
    task?: string
    deliverables?: readonly string[]
  }
}

export type DelegateOutcome = (typeof OUTCOMES)[number]

/** `text` is its prompt. */
export interface SessionDelegate
  extends
    Item,
    Readonly<Pick<DelegateData['delegate.begun'], 'delegate' | 'name' | 'as' | 'task' | 'group'>>,
    Readonly<
      Pick<
        DelegateData['delegate.reported'],
        'branch' | 'summary' | 'because' | 'commit' | 'report'
      >
    > {
  readonly status: 'running' | DelegateOutcome
  readonly reported?: string
  readonly updatedAt: string
}

export interface DelegatesState {
  readonly delegates: ItemList<SessionDelegate>
}

export const listRules: ListRules<DelegatesState> = { delegates: KEEP_ALL }

export const fold: Folds<DelegateData, DelegatesState> = {
  'delegate.begun': outdatesWrittenTldr((state, data, entry) => {
    const delegate = str(data.delegate)
    if (delegate === '') return
    const known = findDelegate(state.delegates, delegate)
    // A restarted delegate keeps its position and loses its earlier outcome.
    upsert(state.delegates, {
      ...item(known ?? entry, data.what),
      delegate,
      name: str(data.name),
      status: 'running',
      ...fields(data, 'as', 'task', 'group', 'branch'),
      updatedAt: entry.at,
    })
  }),
  'delegate.reported': outdatesWrittenTldr((state, data, entry) => {
    const delegate = str(data.delegate)
    if (delegate === '' || !isOutcome(data.status)) return
    const known = findDelegate(state.delegates, delegate)
    const {
      summary: _summary,
      because: _because,
      ...before
    }: Partial<SessionDelegate> = known ?? {}
    upsert(state.delegates, {
      ...item(entry, data.what),
      ...before,
      delegate,
      name: nonEmptyString(data.name) ?? known?.name ?? '',
      status: data.status,
      ...fields(data, 'task', 'branch', 'summary', 'because', 'commit', 'report'),
      reported: entry.id,
      updatedAt: entry.at,
    })
  }),
}

export const kinds = (): Kinds<DelegateData, DelegatesState> => {
  const usual = { group: 'tasks', writers: [], amendable: [], about: 'work' } as const
  return {
    'delegate.begun': {
      ...usual,
      prose: ['delegate', 'name', 'what', 'as', 'task', 'group', 'branch'],
      line: ['name', 'task'],
      document: { block: 'delegate', regions: ['delegates'], ordered: [] },
    },
    'delegate.reported': {
      ...usual,
      // Search finds its prompt where it began, and its changes where it was merged.
      prose: ['name', 'summary', 'because'],
      line: ['summary', 'name', 'status', 'task'],
    },
  }
}

const OUTCOMES = ['ready', 'merged', 'conflicted', 'failed', 'parked', 'discarded'] as const

function isOutcome(value: unknown): value is DelegateOutcome {
  return OUTCOMES.includes(value as never)
}

export function reportedSince(
  { delegates }: DelegatesState,
  since: string,
): readonly SessionDelegate[] {
  return delegates.items
    .filter(({ reported = '' }) => reported > since)
    .toSorted((a, b) => (a.reported! < b.reported! ? -1 : 1))
}

export function isMergedOrDiscarded({ status }: SessionDelegate): boolean {
  return status === 'merged' || status === 'discarded'
}

function findDelegate(list: MutableList<SessionDelegate>, delegate: string) {
  return list.items.find((line) => line.delegate === delegate)
}

const MAX_FINISHED = 24

function upsert(list: MutableList<SessionDelegate>, line: SessionDelegate) {
  const index = list.items.findIndex(({ delegate }) => delegate === line.delegate)
  if (index === -1) list.items.push(line)
  else list.items[index] = line
  const finished = list.items.filter(isMergedOrDiscarded)
  if (finished.length <= MAX_FINISHED) return
  list.items.splice(list.items.indexOf(finished[0]!), 1)
  list.earlier += 1
}
