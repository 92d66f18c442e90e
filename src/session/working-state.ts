import type { Entry, EntryData, EntryKind } from './entries.ts'
import type { SessionState, Shelf } from './state.ts'
import type { WorkingShelf } from './working-shelf.ts'

/** The state while it is being folded. Lists are pushed to rather than copied, or a long session would cost its square. */
export type Working = {
  -readonly [K in keyof SessionState]: SessionState[K] extends Shelf<infer T>
    ? WorkingShelf<T>
    : SessionState[K]
}

const shelf = <T>(): WorkingShelf<T> => ({ earlier: 0, items: [] })

export function initialState(id: string): Working {
  return {
    id,
    // What a session whose beginning cannot be read is known by.
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
    steps: shelf(),
    progress: shelf(),
    decisions: shelf(),
    discoveries: shelf(),
    blockers: shelf(),
    next: shelf(),
    key: shelf(),
    keyFiles: shelf(),
    changedFiles: shelf(),
    commands: shelf(),
    notes: shelf(),
    remarks: shelf(),
    sections: shelf(),
    checkpoints: shelf(),
    handoffs: shelf(),
    conversations: shelf(),
    requests: shelf(),
    commits: shelf(),
    tests: shelf(),
    agents: shelf(),
    delegates: shelf(),
    crossings: shelf(),
    fields: {},
    entryCount: 0,
    lastId: '',
    once: [],
  }
}

export function workingCopy(state: SessionState): Working {
  const copied = Object.entries(state).map(([name, value]) => [
    name,
    isShelf(value) ? { ...value, items: [...value.items] } : value,
  ])
  return Object.fromEntries(copied) as Working
}

export function isShelf(value: unknown): value is Shelf<{ readonly id: string }> {
  return typeof value === 'object' && value !== null && 'items' in value
}

export type Handler<K extends EntryKind> = (
  state: Working,
  data: Lenient<EntryData[K]>,
  entry: Entry<K>,
) => void
/** Data from a file may lack or misname anything, so handlers read every field as unknown. */
type Lenient<T> = { readonly [K in keyof T]?: unknown }
