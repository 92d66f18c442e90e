// What a harness has written of conversations on this machine, and how that is read: what an import asks of each.
import type { HistoryItem, NewItem } from '../../history/items.ts'
import type { Json } from '../../text/json-fields.ts'

/** A file that may hold what was said. */
export interface HistoryFile {
  readonly path: string
  /** One item a line, one list of messages in a document, or a database of many conversations. */
  readonly form: 'lines' | 'document' | 'database'
}

/** Whose a file is, read from its name and its beginning. */
export interface HistoryHead {
  readonly conversation: string
  readonly cwd?: string
  /** SHA-256 of the folder, from a harness that tells nothing else. */
  readonly cwdHash?: string
}

/** Turns the lines of one file into items, in their order. */
export interface Translator {
  /** What a line adds. `damaged`: it cannot be read. What is not known yet is held back until it is. */
  translate(line: Buffer, offset: number): readonly NewItem[] | 'damaged'
  /** What was held back, when no line follows. */
  rest(): readonly NewItem[]
  /** Where to begin again to be told what is held back now. */
  heldFrom(): number | undefined
  /** What it has to know when it goes on later: small, and JSON. */
  memory(): Json
}

/** A harness that keeps one or more files for each conversation. */
export interface FileHistory {
  readonly form: 'files'
  readonly name: string
  /** Every file there is. */
  files(env: NodeJS.ProcessEnv): Iterable<HistoryFile>
  /** The same for a path that somebody named: a file, or a folder of them. */
  filesAt(path: string): Iterable<HistoryFile>
  /** Undefined when it is none of this harness's conversations. Not asked of databases. */
  head(file: HistoryFile): HistoryHead | undefined
  translator(head: HistoryHead, memory: Json): Translator
  /** Its files tell the same again, so that what is stored already has to be looked up. */
  readonly isRepetitive: boolean
  /** Messages keep the ids of the harness also where a driver stored them, so that none is stored twice. */
  readonly hasStableIds?: true
}

/** A harness that keeps all conversations in one database. */
export interface DatabaseHistory {
  readonly form: 'database'
  readonly name: string
  files(env: NodeJS.ProcessEnv): Iterable<HistoryFile>
  filesAt(path: string): Iterable<HistoryFile>
  /** Close it when done. */
  open(path: string): ConversationDatabase
  /** The id of the message that an item was made from; undefined for an item that somebody else stored. */
  messageOf(item: string): string | undefined
}

export type HarnessHistory = FileHistory | DatabaseHistory

/** It is only read, and may be written meanwhile. */
export interface ConversationDatabase {
  close(): void
  sessions(): readonly DatabaseSession[]
  hasMessage(session: DatabaseSession, message: string): boolean
  /** The messages of a session that the user did not take back. */
  standing(session: DatabaseSession): ReadonlySet<string>
  /** How much there is of a session, to show progress. */
  bytesOf(session: DatabaseSession): number
  /** The messages behind a place, one after the other. One that is still being written, and all behind it, are left for later. */
  messages(session: DatabaseSession, after: DatabasePlace | undefined): Iterable<DatabaseStep>
}

export interface DatabaseSession {
  readonly id: string
  /** The session that it was delegated by, or itself. */
  readonly conversation: string
  readonly cwd: string
  readonly startedAt: number
  readonly updatedAt: number
  /** The user has taken back what was said from this message on, or behind it. */
  readonly revert?: { readonly message: string; readonly isBehind: boolean }
}

/** Where in the order of a session's messages the next begins. */
export interface DatabasePlace {
  readonly at: number
  readonly id: string
}

export interface DatabaseStep {
  readonly items: readonly HistoryItem[]
  readonly place: DatabasePlace
  readonly bytes: number
  /** Parts that cannot be read, or are too long. */
  readonly damaged: number
}
