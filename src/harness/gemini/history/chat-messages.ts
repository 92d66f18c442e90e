import type { Message, Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, listOf, nameOf, objectOf, textOf } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

/**
 * Tool uses and results become messages named after the call, since both are repeated. `window`
 * separates those after a compression.
 */
export function messagesOf(fields: Json, window: string): readonly Message[] {
  const id = nameOf(fields['id'])
  if (id === undefined) return []
  const common = { type: 'message', ...defined({ at: nameOf(fields['timestamp']) }) } as const
  switch (fields['type']) {
    case 'user':
      return saidByUser(fields, id, common, window)
    case 'gemini':
      return saidByModel(fields, id, common, window)
    case 'error':
      return [{ ...common, id, role: 'system', parts: partsOf(fields['content']), isFailure: true }]
    default:
      return []
  }
}

export function isSnapshot(fields: Json): boolean {
  const [first] = partsOf(fields['content'])
  return (
    fields['type'] === 'user' &&
    first?.type === 'text' &&
    first.text.trimStart().startsWith('<state_snapshot>')
  )
}

type Common = Pick<Message, 'type' | 'at'>

function saidByUser(fields: Json, id: string, common: Common, window: string): readonly Message[] {
  const { content } = fields
  const parts = partsOf(content)
  const [first] = parts
  const isMeta = first?.type === 'text' && first.text.startsWith('<session_context>')
  const said: Message[] =
    parts.length === 0
      ? []
      : [{ ...common, id, role: 'user', parts, ...(isMeta ? { isMeta } : {}) }]
  return [
    ...said,
    ...responsesIn(content).map((response) => resultOf(response, id, common, window)),
  ]
}

function saidByModel(fields: Json, id: string, common: Common, window: string): readonly Message[] {
  const { content } = fields
  const shared = {
    ...common,
    role: 'assistant',
    request: id,
    ...defined({ model: nameOf(fields['model']) }),
  } as const
  const usage = usageOf(objectOf(fields['tokens']))
  const said: Message = {
    ...shared,
    id,
    parts: [...thoughtsOf(fields['thoughts']), ...partsOf(content)],
    ...defined({ usage }),
  }
  const calls = [
    ...listOf(fields['toolCalls']),
    ...listOf(content).map((part) => objectOf(part)?.['functionCall']),
  ]
  const uses = calls.flatMap((value): readonly Message[] => {
    const call = objectOf(value)
    const [use, name] = [nameOf(call?.['id']), nameOf(call?.['name'], 1000)]
    if (use === undefined || name === undefined) return []
    const part: Part = { type: 'tool use', id: use, name, input: objectOf(call?.['args']) ?? {} }
    return [{ ...shared, id: `use-${use}${window}`, parts: [part] }]
  })
  const results = listOf(fields['toolCalls']).flatMap((value) => {
    const call = objectOf(value)
    const isError = call?.['status'] === 'error' || call?.['status'] === 'cancelled'
    return responsesIn(call?.['result']).map((response) =>
      resultOf(response, id, common, window, isError),
    )
  })
  return [said, ...uses, ...results]
}

function responsesIn(content: unknown): readonly Json[] {
  return listOf(content).flatMap((part): readonly Json[] => {
    const response = objectOf(objectOf(part)?.['functionResponse'])
    return response === undefined ? [] : [response]
  })
}

function resultOf(
  told: Json,
  message: string,
  common: Common,
  window: string,
  hasFailed = false,
): Message {
  const use = nameOf(told['id']) ?? message
  const response = objectOf(told['response']) ?? {}
  const { output, error } = response
  const text = textOf(output) ?? textOf(error) ?? (output === '' ? '' : JSON.stringify(response))
  const parts: readonly Part[] = [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...partsOf(told['parts']),
  ]
  const isError = hasFailed || error !== undefined
  return {
    ...common,
    id: `result-${use}${window}`,
    role: 'user',
    parts: [{ type: 'tool result', use, parts, isError }],
  }
}

function thoughtsOf(thoughts: unknown): readonly Part[] {
  return listOf(thoughts).flatMap((value): readonly Part[] => {
    const thought = objectOf(value)
    const text = [textOf(thought?.['subject']), textOf(thought?.['description'])]
      .filter((piece) => piece !== undefined)
      .join('\n')
    return text === '' ? [] : [{ type: 'thinking', text }]
  })
}

function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).flatMap((value): readonly Part[] => {
    const part = typeof value === 'string' ? { text: value } : objectOf(value)
    if (
      part === undefined ||
      part['functionCall'] !== undefined ||
      part['functionResponse'] !== undefined
    )
      return []
    if (typeof part['text'] === 'string') {
      if (part['text'] === '') return []
      return [{ type: part['thought'] === true ? 'thinking' : 'text', text: part['text'] }]
    }
    const inline = objectOf(part['inlineData'])
    const [mediaType, data] = [nameOf(inline?.['mimeType']), textOf(inline?.['data'])]
    if (mediaType !== undefined && data !== undefined) return [{ type: 'image', mediaType, data }]
    return [{ type: 'other', block: part }]
  })
}

// Output excludes thoughts, and input includes the cache.
function usageOf(tokens: Json | undefined): Usage | undefined {
  const input = countOf(tokens?.['input'])
  if (tokens === undefined || input === undefined) return undefined
  const cacheRead = countOf(tokens['cached']) ?? 0
  const output = (countOf(tokens['output']) ?? 0) + (countOf(tokens['thoughts']) ?? 0)
  return { input: Math.max(0, input - cacheRead), cacheWritten: 0, cacheRead, output }
}
