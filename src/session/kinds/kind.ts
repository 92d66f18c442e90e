// A family file exports its data types, `listRules`, `fold` and `kinds`. Hooks load the fold; `kinds` is a function so that the bundler can leave it out there.
import type { ItemList, ListRules, MutableList } from './item-list.ts'

/** Lists are pushed to rather than copied, or folding would be quadratic. */
export type MutableState<S> = {
  -readonly [K in keyof S]: S[K] extends ItemList<infer T> ? MutableList<T> : S[K]
}

/** Data read from a file: any field may be missing or of another type. */
export type Lenient<T> = { readonly [K in keyof T]?: unknown }

export type Folds<D, S> = { readonly [K in keyof D]: Fold<D[K], S> }

type Apply<T, S> = (
  state: MutableState<S>,
  data: Lenient<T>,
  entry: { readonly id: string; readonly at: string },
  rules: ListRules,
) => void

export type Fold<T, S> = {
  /** Whether a TL;DR written before it is outdated. */
  readonly outdatesTldr: boolean
  readonly apply: Apply<T, S>
} & ('git' extends keyof T
  ? {
      /** Whether its branch becomes the session's. */
      readonly bindsBranch: boolean
    }
  : unknown) &
  ('entry' extends keyof T
    ? {
        /** Whether it changes the effect of an earlier entry, which needs a full fold. */
        readonly reachesBack: boolean
      }
    : unknown)

/** Folds a kind that makes a written TL;DR outdated. */
export function outdatesWrittenTldr<T, S>(
  apply: Apply<T, S>,
): { outdatesTldr: true; apply: Apply<T, S> } {
  return { outdatesTldr: true, apply }
}

export function noEffect(): void {}

export type Kinds<D, S> = { readonly [K in keyof D]: Kind<D[K], S> }

export interface Kind<T, S> {
  /** What people call it, where that is not its own name. */
  readonly label?: string
  /** The name under which `--kind` finds it; absent where only its full name does. */
  readonly searchedAs?: string | undefined
  /** Its group on the page. */
  readonly group: EntryGroup
  /** Who may write it besides Stint's own commands, hooks and runs. */
  readonly writers: readonly Writer[]
  /** The fields that `--amend` may reword. */
  readonly amendable: readonly Field<T>[]
  readonly about: EntryTopic | ((data: Lenient<T>) => EntryTopic)
  /** The fields that search, the page and MCP show. */
  readonly prose: readonly Field<T>[] | ((data: Lenient<T>) => readonly Field<T>[])
  /** Its line in a terminal: the first of these fields (else of its prose) that is not empty, or a text made of them. */
  readonly line?: readonly Field<T>[] | ((data: Lenient<T>) => string)
  /** The field with the id of the entry whose line and prose are shown for it. */
  readonly subject?: Field<T> | undefined
  readonly document?: DocumentItem<S> | undefined
}

export type Field<T> = keyof T & string

/** `agent`: through the outbox of its working tree. `document`: a person who edits it. */
export type Writer = 'agent' | 'document'

/** Whether an entry is about the work, only about the conversation, or about handing the session over. */
export type EntryTopic = 'work' | 'talk' | 'handover'

export type EntryGroup =
  | 'decisions'
  | 'findings'
  | 'blockers'
  | 'steps'
  | 'requests'
  | 'code'
  | 'tasks'
  | 'context'
  | 'session'

/** A person's own text may be in any of these. */
export const REGIONS = [
  'head',
  'tldr',
  'context',
  'keyFiles',
  'key',
  'progress',
  'completed',
  'inProgress',
  'remaining',
  'decisions',
  'discoveries',
  'blockers',
  'next',
  'delegates',
  'notes',
  'changedFiles',
  'commands',
] as const
export type Region = (typeof REGIONS)[number]

export interface DocumentItem<S> {
  readonly block: string
  readonly regions: readonly Region[]
  /** The regions whose order a person chooses; the others go by time. */
  readonly ordered: readonly Region[]
  /** Absent where the document has a form of its own for the item. */
  readonly text?: TextItem<S>
}

export interface TextItem<S> {
  readonly list: keyof S & string
  /** Whether an item of the list is of this kind, where several kinds share it. */
  matches(item: unknown): boolean
  readonly isTimed: boolean
  /** Tells the text from others in its region. */
  readonly prefix: string
}

/** An item of one region, whose order a person chooses. */
export function orderedItem<S>(
  block: string,
  region: Region,
  text?: Omit<TextItem<S>, 'matches' | 'prefix'> & Partial<TextItem<S>>,
): DocumentItem<S> {
  const regions = [region]
  const item = { block, regions, ordered: regions }
  return text === undefined ? item : { ...item, text: { matches: () => true, prefix: '', ...text } }
}
