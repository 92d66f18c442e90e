// A conversation for a person to read. Everything in it is cleaned of what could steer a terminal.
import { splitTypedText } from '../../core.ts'
import type { HistoryItem, Message, MessagePart } from '../../library.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { indent, plural, shortTokens } from './terminal/text.ts'

const LINE = 100
/** Enough for one line of a long text. */
const READ = 2000

export interface ConversationTextOptions {
  /** Tools, thoughts and texts of the harness are printed whole, and not in a line. */
  readonly isFull: boolean
  readonly output: Output
}

export function* conversationText(
  items: Iterable<HistoryItem>,
  options: ConversationTextOptions,
): Generator<string> {
  const { isFull, output } = options
  let speaker = ''
  const saidAt = new Map<string, string>()
  let added = 0
  let ofAgent: { readonly agent: string; readonly count: number } | undefined
  const agentLine = ({ agent, count }: NonNullable<typeof ofAgent>) =>
    output.dim(`   … ${plural(count, 'message')} of agent ${oneLine(agent)}`)
  const moreAdded = () => output.dim(`   (added) … and ${added - 1} more`)
  for (const item of items) {
    const message = item.type === 'message' ? item : undefined
    const agent = message?.agent
    if (ofAgent !== undefined && agent !== ofAgent.agent) {
      yield agentLine(ofAgent)
      ofAgent = undefined
    }
    if (agent !== undefined && !isFull) {
      ofAgent = { agent, count: (ofAgent?.count ?? 0) + 1 }
      continue
    }
    if (message?.at !== undefined) saidAt.set(message.id, message.at)
    // A harness adds a dozen texts at once, of which one line is enough.
    if (!isFull && message !== undefined && asideOf(message) === 'added') added += 1
    else {
      if (added > 1) yield moreAdded()
      added = 0
    }
    if (added > 1) continue
    const lines = [...itemLines(item, saidAt, options)]
    if (lines.length === 0) continue
    const heading = message && headingOf(message)
    if (heading !== undefined && heading !== speaker)
      yield `\n${output.bold(heading)}${item.at === undefined ? '' : output.dim(`  ${minute(item.at)}`)}`
    speaker = message === undefined ? '' : (heading ?? speaker)
    yield* lines
  }
  if (ofAgent !== undefined) yield agentLine(ofAgent)
  if (added > 1) yield moreAdded()
}

function headingOf(message: Message) {
  const { parts, role, agent, model = 'Agent' } = message
  const isOnlyResults = parts.length > 0 && parts.every(({ type }) => type === 'tool result')
  if (asideOf(message) !== undefined || isOnlyResults) return undefined
  const who = { user: 'You', system: 'System', assistant: oneLine(model) }[role]
  return agent === undefined ? who : `${who} (agent ${oneLine(agent)})`
}

function* itemLines(
  item: HistoryItem,
  saidAt: ReadonlyMap<string, string>,
  options: ConversationTextOptions,
): Generator<string> {
  const { output } = options
  switch (item.type) {
    case 'began':
      return
    case 'taken back': {
      const at = item.from === undefined ? undefined : saidAt.get(item.from)
      const what =
        item.from === undefined
          ? 'what was taken back is there again'
          : `taken back: what was said above${at === undefined ? '' : `, from ${minute(at)} on`}`
      yield `\n${output.dim(`──── ${what} ────`)}`
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
      yield `\n${output.dim(`ended ${minute(item.at)}: ${oneLine(item.reason)}`)}`
      return
    case 'message':
      yield* messageLines(item, options)
  }
}

function* messageLines(message: Message, options: ConversationTextOptions): Generator<string> {
  const aside = asideOf(message)
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

/** What a message is that no person typed and no model said. */
function asideOf({ isSummary, isMeta, isFailure, role, parts }: Message) {
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
      yield output.dim(`   [picture at ${short(part.url)}]`)
      return
    case 'tool use': {
      // Uses differ by their first argument that is a text.
      const first = Object.values(part.input).find((value) => typeof value === 'string')
      yield `   ▸ ${oneLine(part.name)}${first === undefined ? '' : `: ${short(first)}`}`
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
  const mark = isError ? '✗' : '◂'
  if (options.isFull) {
    yield `   ${mark}`
    for (const part of parts) yield* partLines(part, options)
    return
  }
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const others = parts.filter(({ type }) => type !== 'text')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const nothing = others.length === 0 ? 'nothing' : ''
  const shown = lines[0] === undefined ? nothing : short(lines[0])
  const more = lines.length > 1 ? ` … ${plural(lines.length, 'line')}` : ''
  yield options.output.dim(`   ${mark} ${shown}${more}`.trimEnd())
  for (const part of others) yield* partLines(part, options)
}

function asideLine(what: string, text: string, { isFull, output }: ConversationTextOptions) {
  return output.dim(
    isFull ? indent(`(${what}) ${cleanText(text.trim())}`) : `   (${what}) ${short(text)}`,
  )
}

function short(text: string) {
  return shorten(oneLine(text.slice(0, READ)), LINE)
}
