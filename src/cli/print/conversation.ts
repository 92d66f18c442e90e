// A conversation for a person to read, with all control characters removed.
import { splitTypedText } from '../../core.ts'
import type { HistoryItem, Message, MessagePart } from '../../library.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { indent, plural, shortTokens } from './terminal/text.ts'

const MAX_LINE_LENGTH = 100
const MAX_READ_LENGTH = 2000

export interface ConversationTextOptions {
  /** Prints tool calls, thoughts and harness texts in full instead of one line each. */
  readonly isFull: boolean
  readonly output: Output
}

export function* conversationText(
  items: Iterable<HistoryItem>,
  options: ConversationTextOptions,
): Generator<string> {
  const { isFull, output } = options
  let speaker = ''
  const timeOfMessage = new Map<string, string>()
  let added = 0
  let agentRun: { readonly agent: string; readonly count: number } | undefined
  const agentLine = ({ agent, count }: NonNullable<typeof agentRun>) =>
    output.dim(`   … ${plural(count, 'message')} of agent ${oneLine(agent)}`)
  const addedLine = () => output.dim(`   (added) … and ${added - 1} more`)
  for (const item of items) {
    const message = item.type === 'message' ? item : undefined
    const agent = message?.agent
    if (agentRun !== undefined && agent !== agentRun.agent) {
      yield agentLine(agentRun)
      agentRun = undefined
    }
    if (agent !== undefined && !isFull) {
      agentRun = { agent, count: (agentRun?.count ?? 0) + 1 }
      continue
    }
    if (message?.at !== undefined) timeOfMessage.set(message.id, message.at)
    // Harnesses add a dozen texts at once; one line is enough.
    if (!isFull && message !== undefined && asideKind(message) === 'added') added += 1
    else {
      if (added > 1) yield addedLine()
      added = 0
    }
    if (added > 1) continue
    const lines = [...itemLines(item, timeOfMessage, options)]
    if (lines.length === 0) continue
    const heading = message && headingOf(message)
    if (heading !== undefined && heading !== speaker)
      yield `\n${output.bold(heading)}${item.at === undefined ? '' : output.dim(`  ${formatToMinute(item.at)}`)}`
    speaker = message === undefined ? '' : (heading ?? speaker)
    yield* lines
  }
  if (agentRun !== undefined) yield agentLine(agentRun)
  if (added > 1) yield addedLine()
}

function headingOf(message: Message) {
  const { parts, role, agent, model = 'Agent' } = message
  const isOnlyResults = parts.length > 0 && parts.every(({ type }) => type === 'tool result')
  if (asideKind(message) !== undefined || isOnlyResults) return undefined
  const speakerName = { user: 'You', system: 'System', assistant: oneLine(model) }[role]
  return agent === undefined ? speakerName : `${speakerName} (agent ${oneLine(agent)})`
}

function* itemLines(
  item: HistoryItem,
  timeOfMessage: ReadonlyMap<string, string>,
  options: ConversationTextOptions,
): Generator<string> {
  const { output } = options
  switch (item.type) {
    case 'began':
      return
    case 'taken back': {
      const at = item.from === undefined ? undefined : timeOfMessage.get(item.from)
      const label =
        item.from === undefined
          ? 'what was taken back is there again'
          : `taken back: what was said above${at === undefined ? '' : `, from ${formatToMinute(at)} on`}`
      yield `\n${output.dim(`──── ${label} ────`)}`
      return
    }
    case 'compaction': {
      const figures = [item.tokensBefore, item.tokensAfter]
        .flatMap((count) => (count === undefined ? [] : [shortTokens(count)]))
        .join(' → ')
      const trigger = item.trigger === undefined ? '' : ` (${oneLine(item.trigger)})`
      yield `\n${output.dim(`──── compacted${trigger}${figures === '' ? '' : `, ${figures} tokens`} ────`)}`
      return
    }
    case 'ended':
      yield `\n${output.dim(`ended ${formatToMinute(item.at)}: ${oneLine(item.reason)}`)}`
      return
    case 'message':
      yield* messageLines(item, options)
  }
}

function* messageLines(message: Message, options: ConversationTextOptions): Generator<string> {
  const aside = asideKind(message)
  for (const part of message.parts) {
    if (part.type !== 'text' || (aside === undefined && message.role !== 'user'))
      yield* partLines(part, options)
    else if (aside !== undefined) yield asideLine(aside, part.text, options)
    else {
      const { added, typed } = splitTypedText(part.text)
      if (added !== '') yield asideLine('added', added, options)
      yield* partLines({ type: 'text', text: typed }, options)
    }
  }
}

/** The kind of a message that neither the user nor the model wrote. */
function asideKind({ isSummary, isMeta, isFailure, role, parts }: Message) {
  if (isFailure === true) return 'failed'
  if (isSummary === true) return 'summary'
  if (isMeta === true || role === 'system') return 'added'
  const isAdded = (part: MessagePart) =>
    part.type !== 'text' || splitTypedText(part.text).typed.trim() === ''
  return role === 'user' && parts[0]?.type === 'text' && parts.every(isAdded) ? 'added' : undefined
}

function* partLines(part: MessagePart, options: ConversationTextOptions): Generator<string> {
  const { isFull, output } = options
  switch (part.type) {
    case 'text':
      if (part.text.trim() !== '') yield indent(cleanText(part.text.trim()))
      return
    case 'thinking': {
      const text = part.data === undefined ? part.text : 'encrypted by its provider'
      yield asideLine('thought', text, options)
      return
    }
    case 'image':
      yield output.dim(
        `   [picture, ${oneLine(part.mediaType)}, ${Math.round((part.data.length * 3) / 4000)} KB]`,
      )
      return
    case 'image link':
      yield output.dim(`   [picture at ${shortText(part.url)}]`)
      return
    case 'tool use': {
      // The first string argument identifies the call best.
      const first = Object.values(part.input).find((value) => typeof value === 'string')
      yield `   ▸ ${oneLine(part.name)}${first === undefined ? '' : `: ${shortText(first)}`}`
      if (isFull) yield indent(cleanText(JSON.stringify(part.input, undefined, 2)), '     ')
      return
    }
    case 'tool result':
      yield* resultLines(part, options)
      return
    case 'other':
      yield output.dim(
        `   [${shorten(oneLine(String(part.block['type'] ?? 'something else')), 40)}]`,
      )
  }
}

function* resultLines(
  { parts, isError }: Extract<MessagePart, { type: 'tool result' }>,
  options: ConversationTextOptions,
): Generator<string> {
  const symbol = isError ? '✗' : '◂'
  if (options.isFull) {
    yield `   ${symbol}`
    for (const part of parts) yield* partLines(part, options)
    return
  }
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const otherParts = parts.filter(({ type }) => type !== 'text')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const emptyText = otherParts.length === 0 ? 'nothing' : ''
  const firstLine = lines[0] === undefined ? emptyText : shortText(lines[0])
  const more = lines.length > 1 ? ` … ${plural(lines.length, 'line')}` : ''
  yield options.output.dim(`   ${symbol} ${firstLine}${more}`.trimEnd())
  for (const part of otherParts) yield* partLines(part, options)
}

function asideLine(label: string, text: string, { isFull, output }: ConversationTextOptions) {
  return output.dim(
    isFull ? indent(`(${label}) ${cleanText(text.trim())}`) : `   (${label}) ${shortText(text)}`,
  )
}

function shortText(text: string) {
  return shorten(oneLine(text.slice(0, MAX_READ_LENGTH)), MAX_LINE_LENGTH)
}
