import type { Message, Part } from '../../history/items.ts'
import { type Json, given } from '../../text/json-fields.ts'
import { joined } from './joined-messages.ts'
import type { ModelRequest } from './provider.ts'

type Block = Record<string, unknown>

/** The body of a request to the Messages API. */
export function anthropicBody({ settings, model, maxOutput, messages, tools }: ModelRequest): Json {
  const said = joined(messages.filter(({ role }) => role !== 'system'))
  const spoken = said.map(({ role, parts }) => ({ role, content: blocksOf(parts) }))
  const users = spoken.filter(({ role }) => role === 'user')
  // What does not change from request to request, up to the files that it began with; then the way so far, twice, so that
  // the provider finds the place where the request before ended however much came since.
  const last = users.slice(-2).flatMap(({ content }) => content.slice(-1))
  const first = openingBlock(messages, users[0]?.content ?? [])
  const system = messages.filter(({ role }) => role === 'system').flatMap(({ parts }) => blocksOf(parts))
  for (const block of new Set([...system.slice(-1), ...first, ...last])) block['cache_control'] = { type: 'ephemeral' }
  return {
    model,
    max_tokens: maxOutput,
    stream: true,
    system,
    tools: tools.map(({ name, description, input }) => ({ name, description, input_schema: input })),
    messages: spoken,
    ...given({ thinking: thinkingFor(settings.thinking) }),
    ...(settings.effort === undefined ? {} : { output_config: { effort: settings.effort } }),
  }
}

/** The last block of what the conversation began with before anybody said anything. */
function openingBlock(messages: readonly Message[], content: readonly Block[]): readonly Block[] {
  const opening = messages.find(({ role }) => role !== 'system')
  return opening?.isMeta === true ? content.slice(opening.parts.length - 1, opening.parts.length) : []
}

function thinkingFor(thinking: number | 'adaptive' | undefined): Json | undefined {
  if (thinking === undefined) return undefined
  return thinking === 'adaptive' ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: thinking }
}

function blocksOf(parts: readonly Part[]): readonly Block[] {
  return parts.flatMap((part): Block[] => {
    const block = blockOf(part)
    return block === undefined ? [] : [block]
  })
}

function blockOf(part: Part): Block | undefined {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
    case 'thinking':
      if (part.data !== undefined) return { type: 'redacted_thinking', data: part.data }
      return part.signature === undefined ? undefined : { type: 'thinking', thinking: part.text, signature: part.signature }
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } }
    case 'image link':
      return { type: 'image', source: { type: 'url', url: part.url } }
    case 'tool use':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input }
    case 'tool result':
      return {
        type: 'tool_result',
        tool_use_id: part.use,
        content: blocksOf(part.parts),
        ...(part.isError ? { is_error: true } : {}),
      }
    case 'other':
      return { ...part.block }
  }
}
