import type { Message, Part } from '../../../history/items.ts'
import {
  type Json,
  listOf,
  nameOf,
  objectOf,
  parseJson,
  textOf,
} from '../../../text/json-fields.ts'
import { pictureAt } from '../../contract/history-files.ts'

type Said = Omit<Message, 'at'>

export function messageOf(item: Json, place: string): Said | undefined {
  const id = nameOf(item['id']) ?? place
  switch (item['type']) {
    case 'message':
      return said(item, id)
    case 'reasoning':
      return reasoned(item, id)
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
      return called(item, id)
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return answered(item, id)
    default:
      return undefined
  }
}

function said(item: Json, id: string): Said {
  const parts = partsOf(item['content'])
  const role =
    item['role'] === 'assistant' ? 'assistant' : item['role'] === 'user' ? 'user' : 'system'
  return {
    type: 'message',
    id,
    role,
    parts,
    ...(isOfHarness(item, role, parts) ? { isMeta: true } : {}),
  }
}

const OF_HARNESS =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification)>|# AGENTS\.md instructions)/

function isOfHarness(item: Json, role: Message['role'], parts: readonly Part[]): boolean {
  if (role === 'assistant') return false
  const kinds = listOf(
    objectOf(item['internal_chat_message_metadata_passthrough'])?.['content_item_kinds'],
  )
  if (kinds.length > 0)
    return !kinds.some((kind) => typeof kind === 'string' && kind.startsWith('user.'))
  const [first] = parts
  return role === 'system' || (first?.type === 'text' && OF_HARNESS.test(first.text))
}

function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).flatMap((value): readonly Part[] => {
    const block = objectOf(value)
    if (block === undefined) return []
    if (typeof block['text'] === 'string') return [{ type: 'text', text: block['text'] }]
    if (block['type'] === 'input_image' && typeof block['image_url'] === 'string')
      return [pictureAt(block['image_url'])]
    return [{ type: 'other', block }]
  })
}

function reasoned(item: Json, id: string): Said {
  const texts = [...listOf(item['summary']), ...listOf(item['content'])].flatMap(
    (piece) => textOf(objectOf(piece)?.['text']) ?? [],
  )
  const data = textOf(item['encrypted_content'])
  const thinking: Part[] =
    texts.length === 0 ? [] : [{ type: 'thinking', text: texts.join('\n\n') }]
  const encrypted: Part[] = data === undefined ? [] : [{ type: 'thinking', text: '', data }]
  return { type: 'message', id, role: 'assistant', parts: [...thinking, ...encrypted] }
}

function called(item: Json, id: string): Said {
  const use = nameOf(item['call_id']) ?? id
  const name = nameOf(item['name'], 1000) ?? String(item['type']).replace(/_call$/, '')
  return {
    type: 'message',
    id,
    role: 'assistant',
    parts: [{ type: 'tool use', id: use, name, input: inputOf(item) }],
  }
}

function inputOf(item: Json): Json {
  const given = item['arguments'] ?? item['input'] ?? item['action']
  const parsed = typeof given === 'string' ? objectOf(parseJson(given)) : objectOf(given)
  return parsed ?? { input: given ?? '' }
}

function answered(item: Json, id: string): Said | undefined {
  const use = nameOf(item['call_id'])
  if (use === undefined) return undefined
  const output = objectOf(item['output'])
  const parts = partsOf(
    output === undefined ? item['output'] : (output['content'] ?? output['content_items']),
  )
  const isError =
    output?.['success'] === false ||
    parts.some((part) => part.type === 'text' && hasFailed(part.text))
  return {
    type: 'message',
    id,
    role: 'user',
    parts: [{ type: 'tool result', use, parts, isError }],
  }
}

// How the tool begins its answer, in words or, in older versions, in JSON.
const EXIT_CODE = /^(?:[^\n]*\n){0,3}Process exited with code (\d+)$|"exit_code":(\d+)/m
const SAID_WITHIN = 300

function hasFailed(text: string): boolean {
  const isJson = text.startsWith('{"output"')
  const found = EXIT_CODE.exec(isJson ? text.slice(-SAID_WITHIN) : text.slice(0, SAID_WITHIN))
  const code = isJson ? found?.[2] : found?.[1]
  return code !== undefined && code !== '0'
}
