import { HOOK_CONTEXT_LABEL } from './item-lines.ts'
import type { HistoryItem, Message, MessagePart, ToolResultPart, ToolUsePart } from './items.ts'
import { liveMessages } from './live-messages.ts'
import { defined } from '../text/defined.ts'

export interface ModelMessage {
  readonly role: Message['role']
  readonly parts: readonly MessagePart[]
}

const NONE: ReadonlySet<string> = new Set()
const LOST_RESULT =
  'The result of this call was never recorded: the conversation was cut off before it.'

/**
 * One message per request, then its tool results; a missing result becomes an error. `promptless`
 * harnesses store no system prompt.
 */
export function modelMessages(
  items: Iterable<HistoryItem>,
  promptless: ReadonlySet<string> = NONE,
): readonly ModelMessage[] {
  const all = [...items]
  const prompt = systemPromptOf(all, promptless)
  const turns = splitTurns(liveMessages(all).filter((message) => !prompt.has(message)))
  const lateResults = new Map(turns.flatMap(({ results }) => [...results]))
  return turns.flatMap(({ reply, reminders, inputs, results }) => {
    const uses = reply.filter((part): part is ToolUsePart => part.type === 'tool use')
    const user = [
      ...[...results.values()].filter(({ use }) => uses.some(({ id }) => id === use)),
      ...uses
        .filter(({ id }) => !results.has(id))
        .map((use) => lateResults.get(use.id) ?? lostResult(use)),
      ...joinParts([...reminders, ...inputs].filter(({ role }) => role === 'user')),
    ]
    const system = joinParts(inputs.filter(({ role }) => role === 'system'))
    return [
      ...(reply.length === 0 ? [] : [{ role: 'assistant' as const, parts: reply }]),
      ...(user.length === 0 ? [] : [{ role: 'user' as const, parts: user }]),
      ...(system.length === 0 ? [] : [{ role: 'system' as const, parts: system }]),
    ]
  })
}

/** The system messages before any other message, except hook output. */
function systemPromptOf(
  items: readonly HistoryItem[],
  promptless: ReadonlySet<string>,
): ReadonlySet<HistoryItem> {
  if (items.some((item) => item.type === 'began' && promptless.has(item.harness))) return new Set()
  const messages = items.filter(
    (item) => item.type === 'message' && item.agent === undefined,
  ) as readonly Message[]
  const end = messages.findIndex(({ role }) => role !== 'system')
  return new Set(
    (end === -1 ? messages : messages.slice(0, end)).filter((message) => !isHookOutput(message)),
  )
}

function isHookOutput({ parts: [first] }: Message): boolean {
  return first?.type === 'text' && first.text.slice(0, 300).includes(HOOK_CONTEXT_LABEL)
}

/** What the model replied in one request, and everything it got before the next. */
interface RequestTurn {
  readonly request?: string
  readonly reply: MessagePart[]
  readonly results: Map<string, ToolResultPart>
  readonly reminders: ModelMessage[]
  readonly inputs: ModelMessage[]
}

function splitTurns(live: readonly Message[]): readonly RequestTurn[] {
  const turns: RequestTurn[] = [{ reply: [], results: new Map(), reminders: [], inputs: [] }]
  for (const { role, parts, request, isMeta } of live.map(asSent).map(withAcceptedParts)) {
    const turn = turns.at(-1)!
    if (role !== 'assistant') {
      for (const part of parts) if (part.type === 'tool result') turn.results.set(part.use, part)
      const others = parts.filter(({ type }) => type !== 'tool result')
      if (others.length === 0) continue
      if (isMeta === true && isReminder(others)) turn.reminders.push({ role, parts: others })
      else turn.inputs.push({ role, parts: others })
    } else if (request === turn.request && (request !== undefined || isReplyOnly(turn)))
      turn.reply.push(...parts)
    else
      turns.push({
        ...defined({ request }),
        reply: [...parts],
        results: new Map(),
        reminders: [],
        inputs: [],
      })
  }
  return mergeInterrupted(turns)
}

/** Without request ids, adjacent replies belong to one request. */
function isReplyOnly({ reply, results, reminders, inputs }: RequestTurn): boolean {
  return reply.length > 0 && results.size === 0 && reminders.length === 0 && inputs.length === 0
}

/** A mentioned file, which the model sees before the prompt about it. */
function isReminder([first]: readonly MessagePart[]): boolean {
  return first?.type === 'text' && first.text.startsWith('<system-reminder>')
}

/** Where the model was interrupted before it replied, both prompts are merged. */
function mergeInterrupted([first, ...turns]: readonly RequestTurn[]): readonly RequestTurn[] {
  const merged = [first!]
  for (const turn of turns) {
    const last = merged.at(-1)!
    if (!turn.reply.every(({ type }) => type === 'thinking')) merged.push(turn)
    else {
      for (const [use, result] of turn.results) last.results.set(use, result)
      last.inputs.push(...turn.reminders, ...turn.inputs)
    }
  }
  return merged
}

function asSent(message: Message): Message {
  return message.asTold === undefined ? message : { ...message, ...message.asTold, isMeta: true }
}

/** What providers accept in a message of this role. */
function withAcceptedParts(message: Message): Message {
  const types = ACCEPTED_PARTS[message.role]
  return {
    ...message,
    parts: message.parts.filter((part) => types.includes(part.type) && !isEmpty(part)),
  }
}

const ACCEPTED_PARTS: Readonly<Record<Message['role'], readonly MessagePart['type'][]>> = {
  user: ['text', 'image', 'image link', 'tool result', 'other'],
  assistant: ['text', 'thinking', 'tool use', 'other'],
  system: ['text'],
}

function isEmpty(part: MessagePart): boolean {
  return part.type === 'text' && part.text.trim() === ''
}

/** Ends the line of a text before another, or the two would run together. */
function joinParts(messages: readonly ModelMessage[]): readonly MessagePart[] {
  const all: MessagePart[] = []
  for (const { parts } of messages) {
    const last = all.at(-1)
    if (last?.type === 'text' && parts[0]?.type === 'text')
      all.splice(-1, 1, { ...last, text: `${last.text}\n` })
    all.push(...parts)
  }
  return all
}

function lostResult({ id }: ToolUsePart): ToolResultPart {
  return {
    type: 'tool result',
    use: id,
    parts: [{ type: 'text', text: LOST_RESULT }],
    isError: true,
  }
}
