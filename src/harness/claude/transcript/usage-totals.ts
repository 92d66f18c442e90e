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

const CHUNK_BYTES = 4 * 1024 * 1024
const MAX_LINE_BYTES = 64 * 1024 * 1024
const PREFIX_BYTES = 1024
/** Lines of several calls may interleave: tools return while the model still replies. */
const MAX_OPEN = 32

export function readTranscriptTotals(
  path: string,
  cached: CachedTotals | undefined,
  progress?: (done: number, size: number) => void,
): CachedTotals | undefined {
  const from =
    cached !== undefined && prefixChecksum(path, cached.place) === cached.prefix
      ? cached
      : undefined
  const counter = new TotalsCounter(from)
  let position = from?.place
  for (;;) {
    const chunk = readNextChunk(path, position, CHUNK_BYTES, MAX_LINE_BYTES)
    if (chunk === undefined) return undefined
    // The file was replaced just now.
    if (position !== undefined && chunk.from !== position.offset)
      return readTranscriptTotals(path, undefined, progress)
    const { lines, consumed } = completeLines(chunk.bytes, MAX_LINE_BYTES)
    for (const line of lines) counter.add(withoutJsonSpace(line))
    position = { offset: chunk.from + consumed, inode: chunk.inode }
    if (consumed === 0)
      return { place: position, prefix: prefixChecksum(path, position), ...counter.result() }
    progress?.(position.offset, chunk.size)
  }
}

const ASSISTANT = Buffer.from('"type":"assistant"')
const COST_STATE = Buffer.from('"type":"cost-state"')
const TIMESTAMP = /"timestamp":"([^"]{1,40})"/
const VERSION = /"version":"([\w.-]{1,40})"/

class TotalsCounter {
  readonly #open: ModelCall[]
  #totals: TranscriptTotals

  constructor(cached: CachedTotals | undefined) {
    this.#open = [...(cached?.open ?? [])]
    this.#totals = cached?.settled ?? { spent: {}, delegated: {}, calls: 0, compactions: 0 }
  }

  add(line: Buffer): void {
    this.#readTimeAndVersion(line)
    if (line.includes(ASSISTANT)) this.#addCall(line)
    else if (line.includes(BOUNDARY)) this.#addBoundary(parseLine(line))
    else if (line.includes(COST_STATE)) this.#addCost(parseLine(line))
  }

  result(): { settled: TranscriptTotals; open: readonly ModelCall[] } {
    return { settled: this.#totals, open: this.#open }
  }

  #update(more: Partial<TranscriptTotals>) {
    this.#totals = { ...this.#totals, ...more }
  }

  /** Both ends are searched: between them may be megabytes of tool output. */
  #readTimeAndVersion(line: Buffer) {
    const ends = `${line.toString('latin1', 0, 1024)} ${line.toString('latin1', Math.max(1024, line.length - 1024))}`
    const at = normalizedTime(TIMESTAMP.exec(ends)?.[1])
    if (at !== undefined) this.#update({ lastAt: at, startedAt: this.#totals.startedAt ?? at })
    const version = VERSION.exec(ends)?.[1]
    if (version !== undefined) this.#update({ version })
  }

  #addCall(line: Buffer) {
    const fields = parseLine(line)
    const message = asObject(fields?.message)
    const spent = spentIn(message)
    if (fields?.type !== 'assistant' || spent === undefined || fields.isApiErrorMessage === true)
      return
    const id = asName(message?.id) ?? `${this.#totals.calls}:${this.#open.length}`
    const model = asName(message?.model) ?? 'unknown'
    const known = this.#open.findIndex((call) => call.id === id)
    const before = this.#open[known]
    if (before === undefined)
      this.#open.push({ id, model, isDelegated: isSidechainLine(line), spent })
    // Earlier lines of a reply carry placeholder counts.
    else this.#open[known] = { ...before, spent: combineCounts(before.spent, spent, Math.max) }
    if (this.#open.length > MAX_OPEN) this.#totals = addModelCall(this.#totals, this.#open.shift()!)
  }

  #addBoundary(line: Json | undefined) {
    const boundary = line === undefined ? undefined : parseBoundary(line)
    if (boundary === undefined) return
    this.#update({ compactions: this.#totals.compactions + 1 })
    const { trigger, tokensBefore: tokens, at = this.#totals.lastAt ?? '' } = boundary
    if (trigger === 'auto' && tokens !== undefined) this.#update({ lastAutomatic: { tokens, at } })
  }

  #addCost(line: Json | undefined) {
    const dollars = asCount(line?.totalCostUSD)
    if (line?.type !== 'cost-state' || dollars === undefined) return
    const isWhole = line.hasUnknownModelCost !== true
    // The line has no time of its own and follows the latest one.
    this.#update({ cost: { dollars, at: this.#totals.lastAt ?? '', isWhole } })
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

function prefixChecksum(path: string, { offset, inode }: FilePosition) {
  const from = Math.max(0, offset - PREFIX_BYTES)
  const chunk = readNextChunk(path, { offset: from, inode }, PREFIX_BYTES, PREFIX_BYTES)
  return chunk === undefined || chunk.from !== from
    ? -1
    : crc32(chunk.bytes.subarray(0, offset - from))
}
