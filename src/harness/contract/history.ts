import type { HistoryItem, NewItem } from '../../history/items.ts'
import type { Json } from '../../text/json-fields.ts'

export interface HistoryFile {
  readonly path: string
  readonly form: 'lines' | 'document' | 'database'
}

export interface HistoryHead {
  readonly conversation: string
  readonly cwd?: string
  /** SHA-256 of the folder, where the harness stores nothing else. */
  readonly cwdHash?: string
}

export interface Translator {
  /** `damaged`: unreadable. Items may be held back until more is known. */
  translate(line: Buffer, offset: number): readonly NewItem[] | 'damaged'
  rest(): readonly NewItem[]
  /** The offset to restart from to get the held items again. */
  heldFrom(): number | undefined
  /** State for the next import: small, and JSON. */
  memory(): Json
}

export interface FileHistory {
  readonly form: 'files'
  readonly name: string
  files(env: NodeJS.ProcessEnv): Iterable<HistoryFile>
  filesAt(path: string): Iterable<HistoryFile>
  head(file: HistoryFile): HistoryHead | undefined
  translator(head: HistoryHead, memory: Json): Translator
  /** Its files repeat items, so stored ones have to be looked up. */
  readonly isRepetitive: boolean
  /** Messages keep the harness's ids also where a driver stored them. */
  readonly hasStableIds?: true
}

export interface DatabaseHistory {
  readonly form: 'database'
  readonly name: string
  files(env: NodeJS.ProcessEnv): Iterable<HistoryFile>
  filesAt(path: string): Iterable<HistoryFile>
  open(path: string): ConversationDatabase
  /** Undefined for an item of another origin. */
  messageOf(item: string): string | undefined
}

export type HarnessHistory = FileHistory | DatabaseHistory

export interface ConversationDatabase {
  close(): void
  sessions(): readonly DatabaseSession[]
  hasMessage(session: DatabaseSession, message: string): boolean
  /** The messages that the user did not revert. */
  standing(session: DatabaseSession): ReadonlySet<string>
  bytesOf(session: DatabaseSession): number
  /** Stops at a message that is still being written. */
  messages(session: DatabaseSession, after: DatabasePlace | undefined): Iterable<DatabaseStep>
}

export interface DatabaseSession {
  readonly id: string
  /** The root session, if a sub-agent's. */
  readonly conversation: string
  readonly cwd: string
  readonly startedAt: number
  readonly updatedAt: number
  readonly revert?: { readonly message: string; readonly isBehind: boolean }
}

export interface DatabasePlace {
  readonly at: number
  readonly id: string
}

export interface DatabaseStep {
  readonly items: readonly HistoryItem[]
  readonly place: DatabasePlace
  readonly bytes: number
  readonly damaged: number
}
