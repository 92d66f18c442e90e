import {
  type Json,
  asArray,
  asName,
  asObject,
  parseJson,
  messageText,
} from '../../text/json-fields.ts'
import type { HistoryItem, Message, MessagePart, ToolResultPart, ToolUsePart } from '../items.ts'
import { modelMessages } from '../model-messages.ts'
import { acceptableName, messageItem } from './anthropic.ts'

export type OpenAiMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly Json[] }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly tool_calls?: readonly Json[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

/**
 * The `messages` array of OpenAI's chat completions to send next, which has no field for thinking.
 */
export function openAiMessages(
  items: Iterable<HistoryItem>,
  promptless?: ReadonlySet<string>,
): readonly OpenAiMessage[] {
  return modelMessages(items, promptless).flatMap(({ role, parts }): readonly OpenAiMessage[] => {
    switch (role) {
      case 'assistant':
        return assistantMessage(parts)
      case 'system':
        return textMessage(role, parts)
      case 'user':
        return [
          ...parts.flatMap((part) => (part.type === 'tool result' ? [toolMessage(part)] : [])),
          ...userMessage(parts),
        ]
    }
  })
}

/** Each item follows the one before it. */
export function openAiItems(messages: readonly unknown[]): readonly Message[] {
  return messages.flatMap((value, index) => {
    const message = asObject(value) ?? {}
    const { role, content } = message
    switch (role) {
      case 'system':
      case 'developer':
        return [messageItem(index, 'system', textParts(messageText(content)))]
      case 'user':
        return [messageItem(index, role, userParts(content))]
      case 'assistant':
        return [
          messageItem(index, role, [
            ...textParts(messageText(content)),
            ...asArray(message.tool_calls).flatMap(parseToolUse),
          ]),
        ]
      case 'tool':
        return [messageItem(index, 'user', parseToolResult(message))]
      default:
        return []
    }
  })
}

function assistantMessage(parts: readonly MessagePart[]): readonly OpenAiMessage[] {
  const text = joinText(parts)
  const calls = parts.filter((part): part is ToolUsePart => part.type === 'tool use').map(toolCall)
  if (text === '' && calls.length === 0) return []
  const used = calls.length === 0 ? {} : { tool_calls: calls }
  return [{ role: 'assistant', content: text === '' ? null : text, ...used }]
}

function toolCall({ id, name, input }: ToolUsePart): Json {
  return {
    id: acceptableName(id),
    type: 'function',
    function: { name: acceptableName(name), arguments: JSON.stringify(input) },
  }
}

function toolMessage({ use, parts }: ToolResultPart): OpenAiMessage {
  return { role: 'tool', tool_call_id: acceptableName(use), content: joinText(parts) }
}

/** A tool result can only be text, so its images go into the user's message. */
function userMessage(parts: readonly MessagePart[]): readonly OpenAiMessage[] {
  const shown = parts.flatMap((part) =>
    part.type === 'tool result' ? part.parts.filter(isImage) : [part],
  )
  if (!shown.some(isImage)) return textMessage('user', shown)
  return [{ role: 'user', content: shown.flatMap(contentPart) }]
}

function contentPart(part: MessagePart): readonly Json[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }]
    case 'image':
      return [
        { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } },
      ]
    case 'image link':
      return [{ type: 'image_url', image_url: { url: part.url } }]
    default:
      return []
  }
}

function textMessage(
  role: 'user' | 'system',
  parts: readonly MessagePart[],
): readonly OpenAiMessage[] {
  const content = joinText(parts)
  return content === '' ? [] : [{ role, content }]
}

function joinText(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function isImage({ type }: MessagePart): boolean {
  return type === 'image' || type === 'image link'
}

function userParts(content: unknown): readonly MessagePart[] {
  if (typeof content === 'string') return textParts(content)
  return asArray(content).flatMap((value): readonly MessagePart[] => {
    const part = asObject(value)
    if (part?.type === 'text' && typeof part.text === 'string') return textParts(part.text)
    const url = asObject(part?.image_url)?.url
    return part?.type === 'image_url' && typeof url === 'string' ? [parseImage(url)] : []
  })
}

function parseImage(url: string): MessagePart {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return mediaType === undefined || data === undefined
    ? { type: 'image link', url }
    : { type: 'image', mediaType, data }
}

function textParts(text: string): readonly MessagePart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function parseToolUse(value: unknown): readonly MessagePart[] {
  const call = asObject(value)
  const callFields = asObject(call?.function)
  const [id, name] = [asName(call?.id), asName(callFields?.name)]
  if (id === undefined || name === undefined) return []
  const input =
    typeof callFields?.arguments === 'string'
      ? asObject(parseJson(callFields.arguments))
      : undefined
  return [{ type: 'tool use', id, name, input: input ?? {} }]
}

function parseToolResult({ tool_call_id: id, content }: Json): readonly MessagePart[] {
  const use = asName(id)
  return use === undefined
    ? []
    : [{ type: 'tool result', use, parts: textParts(messageText(content)), isError: false }]
}
