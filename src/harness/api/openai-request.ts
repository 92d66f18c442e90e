import type { Part } from '../../history/items.ts'
import { type Json, given } from '../../text/json-fields.ts'
import { type Joined, joined } from './joined-messages.ts'
import type { ModelRequest } from './provider.ts'
import { isLoopback } from './settings.ts'

/** The body of a request for a chat completion. */
export function openAiBody({ settings, model, maxOutput, messages, tools }: ModelRequest): Json {
  const system = messages.filter(({ role }) => role === 'system').flatMap(({ parts }) => textsIn(parts))
  const said = joined(messages.filter(({ role }) => role !== 'system')).flatMap(messagesFor)
  return {
    model,
    // The provider's own models know the new name alone, and most other servers the old one.
    [isOpenAi(settings.baseUrl) ? 'max_completion_tokens' : 'max_tokens']: maxOutput,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system.length === 0 ? [] : [{ role: 'system', content: system.join('\n\n') }]), ...said],
    tools: tools.map(({ name, description, input }) => ({
      type: 'function',
      function: { name, description, parameters: input },
    })),
    ...given({ reasoning_effort: settings.effort }),
  }
}

function isOpenAi(baseUrl: string): boolean {
  return !isLoopback(baseUrl) && /(?:^|\.)openai\.(?:com|azure\.com)$/.test(new URL(baseUrl).hostname)
}

function messagesFor({ role, parts }: Joined): readonly Json[] {
  if (role === 'assistant') {
    const calls = parts.flatMap((part) =>
      part.type === 'tool use'
        ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.input) } }]
        : [],
    )
    const content = textsIn(parts).join('\n')
    // Thoughts are not given back: few servers take them, and some refuse.
    return content === '' && calls.length === 0 ? [] : [{ role, content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }]
  }
  const results = parts.flatMap((part) =>
    part.type === 'tool result' ? [{ role: 'tool', tool_call_id: part.use, content: textsIn(part.parts).join('\n') }] : [],
  )
  const content = contentOf(parts.filter((part) => part.type !== 'tool result'))
  return [...results, ...(content.length === 0 ? [] : [{ role: 'user', content }])]
}

/** A plain text where it is nothing else, since small servers know only that. */
function contentOf(parts: readonly Part[]): string | readonly Json[] {
  const images = parts.flatMap((part): Json[] => {
    if (part.type === 'image') return [image(`data:${part.mediaType};base64,${part.data}`)]
    return part.type === 'image link' ? [image(part.url)] : []
  })
  const text = textsIn(parts).join('\n\n')
  if (images.length === 0) return text
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...images]
}

function image(url: string): Json {
  return { type: 'image_url', image_url: { url } }
}

function textsIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text] : []))
}
