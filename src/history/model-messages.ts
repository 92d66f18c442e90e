import { HOOK_CONTEXT_LABEL } from './item-lines.ts'
import type { HistoryItem, Message, MessagePart } from './items.ts'
import { liveMessages } from './live-messages.ts'
import { defined } from '../text/defined.ts'

export interface ModelMessage {
  readonly role: Message['role']
  readonly parts: readonly MessagePart[]
}

type ToolUse = Extract<MessagePart, { type: 'tool use' }>
type ToolResult = Extract<MessagePart, { type: 'tool result' }>

const NO_HARNESS: ReadonlySet<string> = new Set()
const NO_RESULT =
  'The result of this call was never recorded: the conversation was cut off before it.'

/**
 * One message per request, then its tool results; a missing result becomes an error. `promptless`
 * harnesses store no system prompt.
 */
export function modelMessages(
  items: Iterable<HistoryItem>,
  promptless: ReadonlySet<string> = NO_HARNESS,
): readonly ModelMessage[] {
  const all = [...items]
  const prompt = systemPromptOf(all, promptless)
  const turns = turnsOf(liveMessages(all).filter((message) => !prompt.has(message)))
  const late = new Map(turns.flatMap(({ results }) => [...results]))
  return turns.flatMap(({ said, reminders, answered, results }) => {
    const uses = said.filter((part): part is ToolUse => part.type === 'tool use')
    const user = [
      ...[...results.values()].filter(({ use }) => uses.some(({ id }) => id === use)),
      ...uses
        .filter(({ id }) => !results.has(id))
        .map((use) => late.get(use.id) ?? lostResult(use)),
      ...joined([...reminders, ...answered].filter(({ role }) => role === 'user')),
    ]
    const system = joined(answered.filter(({ role }) => role === 'system'))
    return [
      ...(said.length === 0 ? [] : [{ role: 'assistant' as const, parts: said }]),
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
    (end === -1 ? messages : messages.slice(0, end)).filter((message) => !isOfHook(message)),
  )
}

function isOfHook({ parts: [first] }: Message): boolean {
  return first?.type === 'text' && first.text.slice(0, 300).includes(HOOK_CONTEXT_LABEL)
}

/** What the model replied in one request, and everything it got before the next. */
interface Turn {
  readonly request?: string
  readonly said: MessagePart[]
  readonly results: Map<string, ToolResult>
  readonly reminders: ModelMessage[]
  readonly answered: ModelMessage[]
}

function turnsOf(live: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [{ said: [], results: new Map(), reminders: [], answered: [] }]
  for (const { role, parts, request, isMeta } of live.map(asTold).map(acceptable)) {
    const turn = turns.at(-1)!
    if (role !== 'assistant') {
      for (const part of parts) if (part.type === 'tool result') turn.results.set(part.use, part)
      const others = parts.filter(({ type }) => type !== 'tool result')
      if (others.length === 0) continue
      if (isMeta === true && isReminder(others)) turn.reminders.push({ role, parts: others })
      else turn.answered.push({ role, parts: others })
    } else if (request === turn.request && (request !== undefined || isOnlySaid(turn)))
      turn.said.push(...parts)
    else
      turns.push({
        ...defined({ request }),
        said: [...parts],
        results: new Map(),
        reminders: [],
        answered: [],
      })
  }
  return withoutCutOff(turns)
}

/** Without request ids, adjacent replies belong to one request. */
function isOnlySaid({ said, results, reminders, answered }: Turn): boolean {
  return said.length > 0 && results.size === 0 && reminders.length === 0 && answered.length === 0
}

/** A mentioned file, which the model sees before the prompt about it. */
function isReminder([first]: readonly MessagePart[]): boolean {
  return first?.type === 'text' && first.text.startsWith('<system-reminder>')
}

/** Where the model was interrupted before it replied, both prompts are merged. */
function withoutCutOff([first, ...turns]: readonly Turn[]): readonly Turn[] {
  const whole = [first!]
  for (const turn of turns) {
    const last = whole.at(-1)!
    if (!turn.said.every(({ type }) => type === 'thinking')) whole.push(turn)
    else {
      for (const [use, result] of turn.results) last.results.set(use, result)
      last.answered.push(...turn.reminders, ...turn.answered)
    }
  }
  return whole
}

function asTold(message: Message): Message {
  return message.asTold === undefined ? message : { ...message, ...message.asTold, isMeta: true }
}

/** What providers accept in a message of this role. */
function acceptable(message: Message): Message {
  const types = TYPES[message.role]
  return {
    ...message,
    parts: message.parts.filter((part) => types.includes(part.type) && !isEmpty(part)),
  }
}

const TYPES: Readonly<Record<Message['role'], readonly MessagePart['type'][]>> = {
  user: ['text', 'image', 'image link', 'tool result', 'other'],
  assistant: ['text', 'thinking', 'tool use', 'other'],
  system: ['text'],
}

function isEmpty(part: MessagePart): boolean {
  return part.type === 'text' && part.text.trim() === ''
}

/** Ends the line of a text before another, or the two would run together. */
function joined(messages: readonly ModelMessage[]): readonly MessagePart[] {
  const all: MessagePart[] = []
  for (const { parts } of messages) {
    const last = all.at(-1)
    if (last?.type === 'text' && parts[0]?.type === 'text')
      all.splice(-1, 1, { ...last, text: `${last.text}\n` })
    all.push(...parts)
  }
  return all
}

function lostResult({ id }: ToolUse): ToolResult {
  return { type: 'tool result', use: id, parts: [{ type: 'text', text: NO_RESULT }], isError: true }
}
