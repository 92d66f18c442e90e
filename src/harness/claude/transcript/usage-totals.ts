import { BOUNDARY, parseBoundary, normalizedTime, messageUsage } from './inspect-transcript.ts'
import { combineCounts } from '../../contract/usage.ts'
import { crc32 } from '../../../journal/record.ts'
import { type Json, asCount, asName, asObject } from '../../../text/json-fields.ts'
import {
  type FilePosition,
  withoutJsonSpace,
  isSidechainLine,
  parseLine,
  readNextChunk,
  completeLines,
} from '../../contract/transcript-lines.ts'
import {
  type ModelCall,
  type CachedTotals,
  type TranscriptTotals,
  addModelCall,
} from '../../contract/transcript.ts'

const PIECE = 4 * 1024 * 1024
const LONGEST = 64 * 1024 * 1024
const PREFIX = 1024
/** Lines of several calls may interleave: tools return while the model still replies. */
const MOST_OPEN = 32

export function readTranscriptTotals(
  path: string,
  kept: CachedTotals | undefined,
  progress?: (done: number, size: number) => void,
): CachedTotals | undefined {
  const from = kept !== undefined && prefixAt(path, kept.place) === kept.prefix ? kept : undefined
  const sum = new Sum(from)
  let place = from?.place
  for (;;) {
    const piece = readNextChunk(path, place, PIECE, LONGEST)
    if (piece === undefined) return undefined
    // The file was replaced just now.
    if (place !== undefined && piece.from !== place.offset)
      return readTranscriptTotals(path, undefined, progress)
    const { lines, consumed } = completeLines(piece.bytes, LONGEST)
    for (const line of lines) sum.add(withoutJsonSpace(line))
    place = { offset: piece.from + consumed, inode: piece.inode }
    if (consumed === 0) return { place, prefix: prefixAt(path, place), ...sum.result() }
    progress?.(place.offset, piece.size)
  }
}

const ASSISTANT = Buffer.from('"type":"assistant"')
const COST = Buffer.from('"type":"cost-state"')
const TIMESTAMP = /"timestamp":"([^"]{1,40})"/
const VERSION = /"version":"([\w.-]{1,40})"/

class Sum {
  readonly #open: ModelCall[]
  #settled: TranscriptTotals

  constructor(kept: CachedTotals | undefined) {
    this.#open = [...(kept?.open ?? [])]
    this.#settled = kept?.settled ?? { spent: {}, delegated: {}, calls: 0, compactions: 0 }
  }

  add(line: Buffer): void {
    this.#noteWhen(line)
    if (line.includes(ASSISTANT)) this.#addCall(line)
    else if (line.includes(BOUNDARY)) this.#addBoundary(parseLine(line))
    else if (line.includes(COST)) this.#addCost(parseLine(line))
  }

  result(): { settled: TranscriptTotals; open: readonly ModelCall[] } {
    return { settled: this.#settled, open: this.#open }
  }

  #note(more: Partial<TranscriptTotals>) {
    this.#settled = { ...this.#settled, ...more }
  }

  /** Both ends are searched: between them may be megabytes of tool output. */
  #noteWhen(line: Buffer) {
    const ends = `${line.toString('latin1', 0, 1024)} ${line.toString('latin1', Math.max(1024, line.length - 1024))}`
    const at = normalizedTime(TIMESTAMP.exec(ends)?.[1])
    if (at !== undefined) this.#note({ lastAt: at, startedAt: this.#settled.startedAt ?? at })
    const version = VERSION.exec(ends)?.[1]
    if (version !== undefined) this.#note({ version })
  }

  #addCall(line: Buffer) {
    const fields = parseLine(line)
    const message = asObject(fields?.message)
    const spent = spentIn(message)
    if (fields?.type !== 'assistant' || spent === undefined || fields.isApiErrorMessage === true)
      return
    const id = asName(message?.id) ?? `${this.#settled.calls}:${this.#open.length}`
    const model = asName(message?.model) ?? 'unknown'
    const known = this.#open.findIndex((call) => call.id === id)
    const before = this.#open[known]
    if (before === undefined)
      this.#open.push({ id, model, isDelegated: isSidechainLine(line), spent })
    // Earlier lines of a reply carry placeholder counts.
    else this.#open[known] = { ...before, spent: combineCounts(before.spent, spent, Math.max) }
    if (this.#open.length > MOST_OPEN)
      this.#settled = addModelCall(this.#settled, this.#open.shift()!)
  }

  #addBoundary(line: Json | undefined) {
    const boundary = line === undefined ? undefined : parseBoundary(line)
    if (boundary === undefined) return
    this.#note({ compactions: this.#settled.compactions + 1 })
    const { trigger, tokensBefore: tokens, at = this.#settled.lastAt ?? '' } = boundary
    if (trigger === 'auto' && tokens !== undefined) this.#note({ lastAutomatic: { tokens, at } })
  }

  #addCost(line: Json | undefined) {
    const dollars = asCount(line?.totalCostUSD)
    if (line?.type !== 'cost-state' || dollars === undefined) return
    const isWhole = line.hasUnknownModelCost !== true
    // The line has no time of its own and follows the latest one.
    this.#note({ cost: { dollars, at: this.#settled.lastAt ?? '', isWhole } })
  }
}

function spentIn(message: Json | undefined) {
  const usage = messageUsage(message)
  if (usage === undefined) return undefined
  const { input, output, cacheRead, cacheWritten } = usage
  if (input + output + cacheRead + cacheWritten === 0) return undefined
  const details = asObject(asObject(message?.usage)?.cache_creation)
  const hour = Math.min(cacheWritten, asCount(details?.ephemeral_1h_input_tokens) ?? 0)
  return { input, output, cacheRead, cacheWritten: cacheWritten - hour, cacheWrittenHour: hour }
}

function prefixAt(path: string, { offset, inode }: FilePosition) {
  const from = Math.max(0, offset - PREFIX)
  const piece = readNextChunk(path, { offset: from, inode }, PREFIX, PREFIX)
  return piece === undefined || piece.from !== from
    ? -1
    : crc32(piece.bytes.subarray(0, offset - from))
}
