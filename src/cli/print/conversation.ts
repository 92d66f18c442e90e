// A conversation for a person to read: who said what, and what was done in a line each. Nothing that was said is trusted: it is
// cleaned of whatever could steer a terminal.
import { wordsIn } from '../../core.ts'
import type { Compaction, HistoryItem, Message, Part, TakenBack } from '../../library.ts'
import { indent, plural } from './terminal/text.ts'
import type { Json } from '../../text/json-fields.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import { tokens } from './terminal/amounts.ts'
import type { Output } from '../context/output.ts'

const LINE = 100
/** Enough for a line of it, however long it is. */
const LOOKED_AT = 2000

export interface TextOptions {
  /** Tools, thoughts and what the harness added are given whole, and not in a line. */
  readonly isFull: boolean
  readonly output: Output
}

/** The lines of it, as they are read. */
export function* conversationText(
  items: Iterable<HistoryItem>,
  options: TextOptions,
): Generator<string> {
  let speaker = ''
  const saidAt = new Map<string, string>()
  let added = 0
  let ofAgent: { readonly agent: string; readonly count: number } | undefined
  for (const item of items) {
    const agent = item.type === 'message' ? item.agent : undefined
    if (ofAgent !== undefined && agent !== ofAgent.agent) {
      yield agentLine(ofAgent, options)
      ofAgent = undefined
    }
    if (agent !== undefined && !options.isFull) {
      ofAgent = { agent, count: (ofAgent?.count ?? 0) + 1 }
      continue
    }
    if (item.type === 'message' && item.at !== undefined) saidAt.set(item.id, item.at)
    // A harness adds a dozen texts at once, of which one line is enough.
    if (!options.isFull && item.type === 'message' && asideOf(item) === 'added') added += 1
    else {
      if (added > 1) yield moreAdded(added - 1, options)
      added = 0
    }
    if (added > 1) continue
    const said =
      item.type === 'taken back'
        ? [takenBackLine(item, saidAt, options)]
        : [...linesOf(item, options)]
    if (said.length === 0) continue
    const heading = headingOf(item)
    if (heading !== undefined && heading !== speaker)
      yield `\n${options.output.bold(heading)}${timeOf(item, options)}`
    if (item.type !== 'message') speaker = ''
    else speaker = heading ?? speaker
    yield* said
  }
  if (ofAgent !== undefined) yield agentLine(ofAgent, options)
  if (added > 1) yield moreAdded(added - 1, options)
}

function moreAdded(count: number, { output }: TextOptions): string {
  return output.dim(`   (added) … and ${count} more`)
}

function agentLine(
  { agent, count }: { readonly agent: string; readonly count: number },
  { output }: TextOptions,
): string {
  return output.dim(`   … ${plural(count, 'message')} of agent ${oneLine(agent)}`)
}

function headingOf(item: HistoryItem): string | undefined {
  if (item.type !== 'message' || asideOf(item) !== undefined || isOnlyResults(item))
    return undefined
  const who =
    item.role === 'user'
      ? 'You'
      : item.role === 'system'
        ? 'System'
        : oneLine(item.model ?? 'Agent')
  return item.agent === undefined ? who : `${who} (agent ${oneLine(item.agent)})`
}

function timeOf({ at }: HistoryItem, { output }: TextOptions): string {
  return at === undefined ? '' : output.dim(`  ${minute(at)}`)
}

function takenBackLine(
  { from }: TakenBack,
  saidAt: ReadonlyMap<string, string>,
  { output }: TextOptions,
): string {
  const at = from === undefined ? undefined : saidAt.get(from)
  const what =
    from === undefined
      ? 'what was taken back is there again'
      : `taken back: what was said above${at === undefined ? '' : `, from ${minute(at)} on`}`
  return `\n${output.dim(`──── ${what} ────`)}`
}

function* linesOf(item: Exclude<HistoryItem, TakenBack>, options: TextOptions): Generator<string> {
  switch (item.type) {
    case 'began':
      return
    case 'compaction':
      yield `\n${options.output.dim(`──── compacted${compactionFigures(item)} ────`)}`
      return
    case 'ended':
      yield `\n${options.output.dim(`ended ${minute(item.at)}: ${oneLine(item.reason)}`)}`
      return
    case 'message':
      yield* messageLines(item, options)
  }
}

function compactionFigures({ trigger, tokensBefore, tokensAfter }: Compaction): string {
  const figures = [tokensBefore, tokensAfter]
    .flatMap((count) => (count === undefined ? [] : [tokens(count)]))
    .join(' → ')
  return `${trigger === undefined ? '' : ` (${oneLine(trigger)})`}${figures === '' ? '' : `, ${figures} tokens`}`
}

function* messageLines(message: Message, options: TextOptions): Generator<string> {
  const aside = asideOf(message)
  for (const part of message.parts) {
    if (part.type !== 'text' || (aside === undefined && message.role !== 'user'))
      yield* partLines(part, options)
    else if (aside !== undefined) yield aloud(aside, part.text, options)
    else {
      const { added, typed } = wordsIn(part.text)
      if (added !== '') yield aloud('added', added, options)
      yield* partLines({ type: 'text', text: typed }, options)
    }
  }
}

/** What nobody typed and no model said, by what it is. */
function asideOf({ isSummary, isMeta, isFailure, role, parts }: Message): string | undefined {
  if (isFailure === true) return 'failed'
  if (isSummary === true) return 'summary'
  if (isMeta === true || role === 'system') return 'added'
  return role === 'user' && parts[0]?.type === 'text' && parts.every(isAdded) ? 'added' : undefined
}

function isAdded(part: Part): boolean {
  return part.type !== 'text' || wordsIn(part.text).typed.trim() === ''
}

function isOnlyResults({ parts }: Message): boolean {
  return parts.length > 0 && parts.every(({ type }) => type === 'tool result')
}

function* partLines(part: Part, options: TextOptions): Generator<string> {
  switch (part.type) {
    case 'text':
      if (part.text.trim() !== '') yield indent(cleanText(part.text.trim()))
      return
    case 'thinking':
      yield aloud(
        'thought',
        part.data === undefined ? part.text : 'encrypted by its provider',
        options,
      )
      return
    case 'image':
      yield options.output.dim(
        `   [picture, ${oneLine(part.mediaType)}, ${Math.round((part.data.length * 3) / 4000)} KB]`,
      )
      return
    case 'image link':
      yield options.output.dim(
        `   [picture at ${shorten(oneLine(part.url.slice(0, LOOKED_AT)), LINE)}]`,
      )
      return
    case 'tool use':
      yield `   ▸ ${oneLine(part.name)}${inputLine(part.input)}`
      if (options.isFull) yield indent(cleanText(JSON.stringify(part.input, undefined, 2)), '     ')
      return
    case 'tool result':
      yield* resultLines(part, options)
      return
    case 'other':
      yield options.output.dim(
        `   [${shorten(oneLine(String(part.block['type'] ?? 'something else')), 40)}]`,
      )
  }
}

/** The argument by which a use is told from others: the first that is a text. */
function inputLine(input: Json): string {
  const first = Object.values(input).find((value) => typeof value === 'string')
  return first === undefined ? '' : `: ${shorten(oneLine(first.slice(0, LOOKED_AT)), LINE)}`
}

function* resultLines(
  { parts, isError }: Extract<Part, { type: 'tool result' }>,
  options: TextOptions,
): Generator<string> {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const mark = isError ? '✗' : '◂'
  if (options.isFull) {
    yield `   ${mark}`
    for (const part of parts) yield* partLines(part, options)
    return
  }
  const others = parts.filter(({ type }) => type !== 'text')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const more = lines.length > 1 ? ` … ${plural(lines.length, 'line')}` : ''
  const shown =
    lines.length === 0
      ? others.length === 0
        ? 'nothing'
        : ''
      : shorten(oneLine(lines[0]!.slice(0, LOOKED_AT)), LINE)
  yield options.output.dim(`   ${mark} ${shown}${more}`.trimEnd())
  for (const part of others) yield* partLines(part, options)
}

/** In a line, or whole when all is wanted. */
function aloud(what: string, text: string, { isFull, output }: TextOptions): string {
  if (isFull) return output.dim(indent(`(${what}) ${cleanText(text.trim())}`))
  const line = oneLine(text.slice(0, LOOKED_AT))
  return output.dim(`   (${what}) ${shorten(line, LINE)}`)
}
