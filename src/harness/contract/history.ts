import type { HistoryItem, NewItem, MessagePart } from '../../history/items.ts'
import { type Json, asArray, asObject, parseJson } from '../../text/json-fields.ts'
import { type Stats, lstatSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { openRegularFile } from '../../journal/write-files.ts'
import { listFolder, statOrUndefined } from '../../journal/read-files.ts'
import { readRange } from '../../journal/read-log.ts'

export interface HistoryFile {
  readonly path: string
  readonly form: 'lines' | 'document' | 'database'
}

export interface HistoryHead {
  readonly conversation: string
  readonly cwd?: string
  /** SHA-256 of the folder, if the harness stores nothing else. */
  readonly cwdHash?: string
}

export interface HistoryTranslator {
  /** `damaged`: unreadable. Items may be held back until more lines are read. */
  translate(line: Buffer, offset: number): readonly NewItem[] | 'damaged'
  /** Returns the items held back. */
  flush?(): readonly NewItem[]
  /** The offset to restart from so that the held items are read again. */
  heldFrom?(): number | undefined
  /** State for the next import: small, and JSON. */
  state(): Json
}

export interface FileHistory {
  readonly form: 'files'
  readonly name: string
  files(env: NodeJS.ProcessEnv): Iterable<HistoryFile>
  filesAt(path: string): Iterable<HistoryFile>
  head(file: HistoryFile): HistoryHead | undefined
  createTranslator(head: HistoryHead, state: Json): HistoryTranslator
  /** Its files repeat items, so each item is checked against the store. */
  readonly repeatsItems: boolean
  /** Messages keep the harness's ids even when a driver stored them. */
  readonly hasStableIds?: true
}

export interface DatabaseHistory extends Pick<FileHistory, 'name' | 'files' | 'filesAt'> {
  readonly form: 'database'
  open(path: string): ConversationDatabase
  /** Undefined for an item of another harness. */
  messageOf(item: string): string | undefined
}

export type HarnessHistory = FileHistory | DatabaseHistory

export interface ConversationDatabase {
  close(): void
  sessions(): readonly DatabaseSession[]
  hasMessage(session: DatabaseSession, message: string): boolean
  /** The messages that the user did not revert. */
  unrevertedMessages(session: DatabaseSession): ReadonlySet<string>
  bytesOf(session: DatabaseSession): number
  /** Stops at a message that is still being written. */
  messages(session: DatabaseSession, after: DatabaseCursor | undefined): Iterable<DatabaseMessage>
}

export interface DatabaseSession {
  readonly id: string
  /** The root session, for a sub-agent's session. */
  readonly conversation: string
  readonly cwd: string
  readonly startedAt: number
  readonly updatedAt: number
  readonly revert?: { readonly message: string; readonly isBehind: boolean }
}

export interface DatabaseCursor {
  readonly at: number
  readonly id: string
}

export interface DatabaseMessage {
  readonly items: readonly HistoryItem[]
  readonly place: DatabaseCursor
  readonly bytes: number
  readonly damaged: number
}

/** Deeper than any harness nests its files. */
const MAX_DEPTH = 6

/** Sorted, and files before folders. Follows the links of a harness's own folder. */
export function* walkFiles(
  folder: string,
  depth = 0,
  statOf: (path: string) => Stats | undefined = statOrUndefined,
): Generator<string> {
  const folders: string[] = []
  for (const name of [...listFolder(folder)].sort()) {
    const path = join(folder, name)
    const stat = statOf(path)
    if (stat?.isFile() === true) yield path
    else if (stat?.isDirectory() === true && depth < MAX_DEPTH) folders.push(path)
  }
  for (const path of folders) yield* walkFiles(path, depth + 1, statOf)
}

/** A folder may come with a clone, so the links in it are not followed. */
export function* filesAtPath(path: string): Generator<string> {
  const stat = statOrUndefined(path)
  if (stat?.isFile() === true) yield path
  else if (stat?.isDirectory() === true)
    yield* walkFiles(path, 0, (one) => lstatSync(one, { throwIfNoEntry: false }))
}

export function readFileStart(path: string, bytes: number): Buffer | undefined {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    return readRange(fd, 0, bytes)
  } finally {
    closeSync(fd)
  }
}

/** Enough for most files, of which there may be very many. */
const FIRST_READ_BYTES = 16 * 1024

export function* readFirstObjects(path: string, bytes: number): Generator<Json> {
  let yielded = 0
  for (const length of [Math.min(FIRST_READ_BYTES, bytes), bytes]) {
    const start = readFileStart(path, length)
    const lines = (start?.toString('utf8') ?? '').split('\n')
    // The last line may be cut off.
    const completeLines = start === undefined || start.length < length ? lines : lines.slice(0, -1)
    for (const line of completeLines.slice(yielded)) {
      yielded += 1
      const fields = asObject(parseJson(line))
      if (fields !== undefined) yield fields
    }
    if (start === undefined || start.length < length) return
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/

export function imageFromUrl(url: string): MessagePart {
  const [start, mediaType] = DATA_URL.exec(url) ?? []
  if (start === undefined || mediaType === undefined) return { type: 'image link', url }
  return { type: 'image', mediaType, data: url.slice(start.length) }
}

/** Accepts a string or a list of blocks. */
export function partsFromContent(
  content: unknown,
  partsOf: (block: Json) => readonly MessagePart[],
): readonly MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return asArray(content).flatMap((value) => {
    const block = typeof value === 'string' ? { text: value } : asObject(value)
    return block === undefined ? [] : partsOf(block)
  })
}
