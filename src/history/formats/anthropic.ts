import { type Json, asArray, asObject } from '../../text/json-fields.ts'
import { blocksFromParts, partsFromBlocks } from '../item-lines.ts'
import type { HistoryItem, Message, MessagePart } from '../items.ts'
import { type ModelMessage, modelMessages } from '../model-messages.ts'

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: readonly Json[]
}

interface AnthropicOptions {
  /** For models that accept no system message between others: sent as the user, in tags. */
  readonly isSystemSaidByUser?: boolean
  readonly promptless?: ReadonlySet<string>
}

/**
 * The `messages` array of Anthropic's Messages API to send next, without system prompt and tools.
 */
export function anthropicMessages(
  items: Iterable<HistoryItem>,
  options: AnthropicOptions = {},
): readonly AnthropicMessage[] {
  const messages = modelMessages(items, options.promptless).flatMap((message) => {
    const parts = message.parts.filter(isAccepted).map(withAcceptedNames)
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })
  const merged = options.isSystemSaidByUser === true ? withSystemAsUser(messages) : messages
  return merged.map(({ role, parts }) => ({ role, content: blocksFromParts(parts) }))
}

/** Each item follows the one before it. */
export function anthropicItems(messages: readonly unknown[]): readonly Message[] {
  return messages.flatMap((value, index) => {
    const { role, content } = asObject(value) ?? {}
    if (role !== 'user' && role !== 'assistant' && role !== 'system') return []
    return [
      messageItem(
        index,
        role,
        partsFromBlocks(typeof content === 'string' ? content : asArray(content)),
      ),
    ]
  })
}

/** The API rejects unsigned thinking and blocks of another provider. */
function isAccepted(part: MessagePart) {
  if (part.type === 'thinking') return part.signature !== undefined || part.data !== undefined
  return part.type !== 'other' || typeof part.block.type === 'string'
}

function withAcceptedNames(part: MessagePart) {
  switch (part.type) {
    case 'tool use':
      return { ...part, id: acceptableName(part.id), name: acceptableName(part.name) }
    case 'tool result':
      return { ...part, use: acceptableName(part.use) }
    default:
      return part
  }
}

function withSystemAsUser(messages: readonly ModelMessage[]) {
  const merged: ModelMessage[] = []
  for (const { role, parts } of messages) {
    const asUser = role === 'system' ? parts.map(asReminder) : parts
    const last = merged.at(-1)
    if (role !== 'assistant' && last?.role === 'user')
      merged.splice(-1, 1, { ...last, parts: [...last.parts, ...asUser] })
    else merged.push({ role: role === 'assistant' ? role : 'user', parts: asUser })
  }
  return merged
}

function asReminder(part: MessagePart) {
  return part.type === 'text'
    ? { ...part, text: `<system-reminder>\n${part.text}\n</system-reminder>` }
    : part
}

export function messageItem(
  index: number,
  role: Message['role'],
  parts: readonly MessagePart[],
): Message {
  return { type: 'message', id: `message-${index + 1}`, role, parts }
}

/** Providers allow fewer characters in a name than other harnesses. */
export function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}
