// What a harness has written of conversations on this machine, and how that is read: what an import asks of each.
import type { NewItem } from '../../history/items.ts'
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

export interface HistoryHarness {
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
}
