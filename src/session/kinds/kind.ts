// The parts that a family of entry kinds has. A family is a file of this folder that exports its data types, the lists it
// keeps in the state (`shelves`), its `fold`, and its `kinds`. Hooks load the fold; `kinds` is a function so that the bundler
// can leave it out there. Leaving out a part does not compile.
import type { Shelf, ShelfRules, WorkingShelf } from './shelf.ts'

/** A state while it is being folded. Lists are pushed to rather than copied, or a long session would cost its square. */
export type Working<S> = {
  -readonly [K in keyof S]: S[K] extends Shelf<infer T> ? WorkingShelf<T> : S[K]
}

/** Data from a file may lack or misname anything, so every field is read as unknown. */
export type Lenient<T> = { readonly [K in keyof T]?: unknown }

/** How each kind of a family changes the part `S` of the state. */
export type Folds<D, S> = { readonly [K in keyof D]: Fold<D[K], S> }

export type Fold<T, S> = {
  /** Whether a TL;DR written before it no longer says where things stand. */
  readonly outdatesTldr: boolean
  apply(
    state: Working<S>,
    data: Lenient<T>,
    entry: { readonly id: string; readonly at: string },
    shelves: ShelfRules,
  ): void
} & ('git' extends keyof T
  ? {
      /** Whether it says where the session is worked on. The others only say what git was like. */
      readonly bindsBranch: boolean
    }
  : unknown) &
  ('entry' extends keyof T
    ? {
        /** Whether it changes what an earlier entry did, so that everything has to be folded again. */
        readonly reachesBack: boolean
      }
    : unknown)

/** For kinds that leave the state of a session as it is. */
export function keep(): void {}

/** What is to be known of each kind of a family besides its fold. */
export type Kinds<D, S> = { readonly [K in keyof D]: Kind<D[K], S> }

export interface Kind<T, S> {
  /** What people call it. */
  readonly label: string
  /** The name under which `--kind` finds it; undefined where only its full name does. */
  readonly searchedAs: string | undefined
  /** Where the page files it. */
  readonly group: Group
  /** Who may write it besides Stint's own commands, hooks and runs. */
  readonly writers: readonly Writer[]
  /** The fields that `--amend` may reword. */
  readonly amendable: readonly Field<T>[]
  readonly about: About | ((data: Lenient<T>) => About)
  /** The fields that a person or a model reads, in search, on the page and over MCP. */
  readonly prose: readonly Field<T>[] | ((data: Lenient<T>) => readonly Field<T>[])
  /** Its one line in a terminal: the first of these fields that is not empty, or a text made of them. */
  readonly line: readonly Field<T>[] | ((data: Lenient<T>) => string)
  /** The field that names the entry it is about, whose line and prose stand for its own. */
  readonly subject: Field<T> | undefined
  /** How its item stands in the session document. */
  readonly document: DocumentItem<S> | undefined
}

export type Field<T> = keyof T & string

/** `agent`: one that can write its working tree only, through the outbox there. `document`: a person who edits it. */
export type Writer = 'agent' | 'document'

/** What an entry is about: the work; only the conversation going on; or setting the session down and taking it up. */
export type About = 'work' | 'talk' | 'handover'

/** The groups of kinds on the page. */
export type Group =
  | 'decisions'
  | 'findings'
  | 'blockers'
  | 'steps'
  | 'requests'
  | 'code'
  | 'tasks'
  | 'context'
  | 'session'

/** The parts of the session document that hold items. A person's own text may stand in any of them. */
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
  /** What the document calls such an item. */
  readonly block: string
  readonly regions: readonly Region[]
  /** The regions in which the order is the person's to choose. The others go by time. */
  readonly ordered: readonly Region[]
  /** For items that are a text and perhaps a time; undefined where the document has a form of its own for them. */
  readonly text: TextItem<S> | undefined
}

export interface TextItem<S> {
  /** The list of the state that holds them. */
  readonly shelf: keyof S & string
  /** Whether an item of the list is of this kind, where several kinds share it. */
  holds(item: unknown): boolean
  readonly isTimed: boolean
  /** What stands before the text, so that it can be told from others in its region. */
  readonly prefix: string
}
