import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../../journal/files.ts'
import type {
  FileHistory,
  HistoryFile,
  HistoryHead,
  Translator,
} from '../../harness/contract/history.ts'
import { type Json, objectOf, parseJson } from '../../text/json-fields.ts'
import { edgesBefore } from '../../journal/read.ts'
import { type FileIdentity, validCursor } from './cursor.ts'
import { elementsOf, linesFrom } from './line-reader.ts'
import { type ImportTarget, knownIn, storedUntil } from './target.ts'
import { Sink, type Stored } from './sink.ts'
import { defined } from '../../text/defined.ts'

export interface FileJob {
  readonly harness: FileHistory
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly target: ImportTarget
  /** From the beginning. */
  readonly isAnew: boolean
}

export interface FileOutcome extends Stored {
  readonly bytes: number
  readonly damaged: number
}

export interface FileOptions {
  readonly isDryRun: boolean
  /** Receives the bytes read since the last call. */
  readonly read: (bytes: number) => void
}

/** Undefined when the file is gone. */
export function importFile(job: FileJob, options: FileOptions): FileOutcome | undefined {
  const fd = openRegularFile(job.file.path)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    return job.file.form === 'document'
      ? importDocument(job, fd, stat, options)
      : importLines(job, fd, stat, options)
  } finally {
    closeSync(fd)
  }
}

/** The most that is read again after a kill. */
const CURSOR_EVERY = 8 * 1024 * 1024

export function cursorName(harness: FileHistory, file: HistoryFile): string {
  return `${harness.name} ${file.path}`
}

function importLines(
  job: FileJob,
  fd: number,
  stat: FileIdentity,
  { isDryRun, read }: FileOptions,
): FileOutcome {
  const { harness, file, target } = job
  const name = cursorName(harness, file)
  const cursor = job.isAnew ? undefined : validCursor(target.cursors.read(name), fd, stat)
  const { sink, translator } = begin(job, cursor?.memory, isDryRun)
  let at = cursor?.offset ?? 0
  let [bytes, damaged, keptAt] = [0, 0, at]
  const keep = (isWhole: boolean) => {
    sink.flush()
    if (isDryRun || (!isWhole && at - keptAt < CURSOR_EVERY)) return
    keptAt = at
    const offset = translator.heldFrom() ?? at
    // Until the whole file is read it must not count as unchanged.
    const size = isWhole ? stat.size : -1
    target.cursors.write(name, {
      conversation: job.head.conversation,
      inode: stat.ino,
      size,
      mtime: stat.mtimeMs,
      offset,
      edges: edgesBefore(fd, offset),
      memory: translator.memory(),
    })
  }
  for (const line of linesFrom(fd, at)) {
    if (
      line.isOpen &&
      (line.isTooLong || objectOf(parseJson(line.bytes.toString('utf8'))) === undefined)
    )
      break
    const items = line.isTooLong
      ? 'damaged'
      : line.bytes.length === 0
        ? []
        : translator.translate(line.bytes, line.offset)
    const length = line.end - at
    at = line.end
    bytes += length
    if (items === 'damaged') damaged += 1
    const isFull = sink.add(items === 'damaged' ? [] : items, length)
    if (!isFull) continue
    keep(false)
    read(bytes)
    bytes = 0
  }
  sink.add(translator.rest(), 0)
  keep(true)
  read(bytes)
  return { ...sink.stored, bytes: at - (cursor?.offset ?? 0), damaged }
}

/** A harness rewrites a document as a whole, so it is read as a whole. */
function importDocument(
  job: FileJob,
  fd: number,
  stat: FileIdentity,
  { isDryRun, read }: FileOptions,
): FileOutcome {
  const { harness, file, target, head } = job
  const { sink, translator } = begin(job, undefined, isDryRun)
  let [at, damaged] = [0, 0]
  for (const element of elementsOf(fd, 'messages')) {
    const items = element.isTooLong ? 'damaged' : translator.translate(element.bytes, element.end)
    if (items === 'damaged') damaged += 1
    else if (sink.add(items, element.end - at)) sink.flush()
    read(element.end - at)
    at = element.end
  }
  sink.add(translator.rest(), 0)
  sink.flush()
  read(stat.size - at)
  const identity = { inode: stat.ino, size: stat.size, mtime: stat.mtimeMs }
  if (!isDryRun)
    target.cursors.write(cursorName(harness, file), {
      conversation: head.conversation,
      ...identity,
      offset: 0,
      edges: 0,
    })
  return { ...sink.stored, bytes: stat.size, damaged }
}

function begin(
  { harness, head, target }: FileJob,
  memory: Json | undefined,
  isDryRun: boolean,
): { sink: Sink; translator: Translator } {
  const { conversation } = head
  const { store } = target
  const isBegun = memory !== undefined
  const since =
    harness.hasStableIds === true ? undefined : storedUntil(target, conversation, isDryRun)
  const isThere = !isBegun && store.has(conversation)
  const known = harness.isRepetitive || isThere ? knownIn(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...defined({ known, since }),
  })
  return { sink, translator: harness.translator(head, memory ?? {}) }
}
