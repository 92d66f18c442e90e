import { join } from 'node:path'
import { NotWritten, StintError, errnoOf } from '../journal/errors.ts'
import { appendLines, createFolder } from '../journal/write-files.ts'
import { listFolder, statOrUndefined } from '../journal/read-files.ts'
import { type Json, asArray, asName, asObject } from '../text/json-fields.ts'
import type { RedactOptions } from '../text/redact.ts'
import { Blobs, restoreBlobs, needsNoBlobs, readConversationLines, extractBlobs } from './blobs.ts'
import { blobsFolder, conversationPath, conversationsFolder, isConversationId } from './paths.ts'
import { itemFromLine, lineFromItem, messageLine } from './item-lines.ts'
import type { HistoryItem, Message, NewItem } from './items.ts'
import { withLock } from './lock.ts'
import { defined } from '../text/defined.ts'
import { mayHoldSecret } from '../text/may-hold-secret.ts'

export interface StoredConversation {
  readonly id: string
  readonly path: string
  /** Without the shared blobs. */
  readonly bytes: number
  readonly writtenAt: string
}

interface ReadOptions {
  readonly from?: number
  readonly isBrief?: boolean
}

interface AppendOptions {
  /** For imports, which can be repeated. */
  readonly isUnsynced?: boolean
}

/** `offset` is where a later read continues. */
export type StoredItem = HistoryItem & { readonly offset: number }

export interface ConversationStore {
  list(): readonly StoredConversation[]
  has(conversation: string): boolean
  /**
   * Yields each item once, in file order. A read from an offset repeats items that were stored
   * again after it.
   */
  read(conversation: string, options?: ReadOptions): Iterable<StoredItem>
  /** Redacts the items, which are on disk when it returns. Items may be added again. */
  append(conversation: string, items: readonly HistoryItem[], options?: AppendOptions): void
  writer(conversation: string, options?: AppendOptions): ConversationWriter
}

export interface ConversationWriter {
  add(item: NewItem): void
  flush(): void
}

const SUFFIX = '.jsonl'

export function conversationStore(sessions: string, redaction: RedactOptions): ConversationStore {
  const blobs = new Blobs(blobsFolder(sessions))
  const openWriter = (conversation: string, options?: AppendOptions) =>
    new Writer(conversationPath(sessions, conversation), blobs, redaction, options)
  return {
    list: () => listStored(sessions),
    has: (conversation) =>
      isConversationId(conversation) &&
      statOrUndefined(conversationPath(sessions, conversation))?.isFile() === true,
    read: (conversation, options = {}) =>
      readItems(conversationPath(sessions, conversation), blobs, options),
    append: (conversation, items, options) => {
      const writer = openWriter(conversation, options)
      for (const item of items) writer.add(item)
      writer.flush()
    },
    writer: openWriter,
  }
}

function listStored(sessions: string) {
  const folder = conversationsFolder(sessions)
  return listFolder(folder).flatMap((name) => {
    const id = name.slice(0, -SUFFIX.length)
    if (!name.endsWith(SUFFIX) || !isConversationId(id)) return []
    const path = join(folder, name)
    const stat = statOrUndefined(path)
    return stat?.isFile() === true
      ? [{ id, path, bytes: stat.size, writtenAt: stat.mtime.toISOString() }]
      : []
  })
}

function* readItems(path: string, blobs: Blobs, { from = 0, isBrief = false }: ReadOptions) {
  // A message that follows a link-only line follows the parent of that line.
  const links = new Map<string, string>()
  for (const { line, offset } of readConversationLines(path, from)) {
    if (line.type === 'link') {
      const [id, parent] = [asName(line.uuid), asName(line.parentUuid)]
      if (id !== undefined && parent !== undefined) links.set(id, links.get(parent) ?? parent)
      continue
    }
    const isOmitted = isBrief && !mayBePrompt(line)
    const restored = restoreBlobs(line, (name, isPicture) => {
      if (isOmitted || (isBrief && isPicture)) return isPicture ? '' : `[${name.length} characters]`
      const found = blobs.get(name)
      return 'text' in found ? found.text : found.placeholder
    })
    const item = itemFromLine(restored as Json)
    if (item === undefined) continue
    yield item.type === 'message'
      ? { ...withResolvedParent(item, links, offset), offset }
      : { ...item, offset }
  }
}

/** Tool results are mostly long, and never hold the user's prompt. */
function mayBePrompt({ type, isMeta, isCompactSummary, isSidechain, message }: Json) {
  if (type !== 'user' || isMeta === true || isCompactSummary === true || isSidechain === true)
    return false
  return asArray(asObject(message)?.content).every(
    (block) => asObject(block)?.type !== 'tool_result',
  )
}

function withResolvedParent(item: Message, links: ReadonlyMap<string, string>, offset: number) {
  const parent = item.parent === undefined ? undefined : (links.get(item.parent) ?? item.parent)
  // Without an id, a message is identified by its offset.
  return { ...item, id: item.id === '' ? `at-${offset}` : item.id, ...defined({ parent }) }
}

class Writer implements ConversationWriter {
  readonly #path: string
  readonly #blobs: Blobs
  readonly #redaction: RedactOptions
  readonly #isDurable: boolean
  readonly #lines = new LineBatch()

  constructor(
    path: string,
    blobs: Blobs,
    redaction: RedactOptions,
    { isUnsynced = false }: AppendOptions = {},
  ) {
    this.#path = path
    this.#blobs = blobs
    this.#redaction = redaction
    this.#isDurable = !isUnsynced
  }

  add(item: NewItem) {
    const { text, blobs } =
      formatFromSource(item, this.#redaction) ?? formatLine(lineFromItem(item), this.#redaction)
    // Blobs first, so that every line that exists can be read completely.
    if (blobs.size > 0)
      this.#writeOrThrow(() =>
        blobs.forEach((blob, hash) => this.#blobs.put(hash, blob, this.#isDurable)),
      )
    this.#lines.add(text)
  }

  flush() {
    const bytes = this.#lines.take()
    if (bytes.length === 0) return
    this.#writeOrThrow(() => {
      createFolder(join(this.#path, '..'))
      withLock(this.#path, () => {
        appendLines(this.#path, bytes, { isDurable: this.#isDurable })
        return {}
      })
    })
  }

  #writeOrThrow(work: () => void) {
    try {
      work()
    } catch (error) {
      if (errnoOf(error) === undefined || error instanceof StintError) throw error
      throw new NotWritten(this.#path, error)
    }
  }
}

const INITIAL_BYTES = 16 * 1024
const NEWLINE = 0x0a
const MAX_BYTES_PER_CHAR = 3

/** Held as bytes, so that the items can be freed before the write. */
class LineBatch {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  add(line: string) {
    const maxLength = this.#length + line.length * MAX_BYTES_PER_CHAR + 1
    if (maxLength > this.#buffer.length) {
      const longer = Buffer.allocUnsafe(Math.max(maxLength, this.#buffer.length * 2))
      this.#buffer.copy(longer, 0, 0, this.#length)
      this.#buffer = longer
    }
    this.#length += this.#buffer.write(line, this.#length)
    this.#buffer[this.#length] = NEWLINE
    this.#length += 1
  }

  take() {
    const bytes = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return bytes
  }
}

const NO_BLOBS: ReadonlyMap<string, string> = new Map()

/** A cheap test shows that most lines hold no secret. */
function formatLine(line: Json, redaction: RedactOptions) {
  const text = JSON.stringify(line)
  const isClean = isWithoutSecrets(text, redaction)
  if (isClean && needsNoBlobs(text)) return { text, blobs: NO_BLOBS }
  const { value, blobs } = extractBlobs(line, redaction, isClean)
  return { text: JSON.stringify(value), blobs }
}

function isWithoutSecrets(text: string, { extra = [] }: RedactOptions) {
  // A project's own patterns can match anything.
  return extra.length === 0 && !mayHoldSecret(text)
}

// An escape can hide a letter or the slash of a URL.
const ESCAPES = /\\[u/]/

/**
 * Keeps the harness's own JSON, since serialising again costs as much as parsing. Undefined where
 * something in it must change.
 */
function formatFromSource(item: NewItem, redaction: RedactOptions) {
  const { source } = item
  if (item.type !== 'message' || source === undefined || ESCAPES.test(source)) return undefined
  const envelope = JSON.stringify(messageLine(item, {}))
  const text = `${envelope.slice(0, -3)}${source}}`
  return isWithoutSecrets(text, redaction) && needsNoBlobs(text)
    ? { text, blobs: NO_BLOBS }
    : undefined
}
