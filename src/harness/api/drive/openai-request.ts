import { openAiMessages } from '../../../history/formats/openai.ts'
import { type Json } from '../../../text/json-fields.ts'
import type { ModelRequest } from './model-request.ts'
import { defined } from '../../../text/defined.ts'

/** The body of a request for a chat completion. */
export function openAiBody({
  settings,
  model,
  maxOutput,
  system,
  items,
  tools,
}: ModelRequest): Json {
  return {
    model,
    // The provider's own models know the new name alone, and most other servers the old one.
    [isOpenAi(settings.baseUrl) ? 'max_completion_tokens' : 'max_tokens']: maxOutput,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...system.map((content) => ({ role: 'system', content })), ...openAiMessages(items)],
    tools: tools.map(({ name, description, input }) => ({
      type: 'function',
      function: { name, description, parameters: input },
    })),
    ...defined({ reasoning_effort: settings.effort }),
  }
}

function isOpenAi(baseUrl: string): boolean {
  return /(?:^|\.)openai\.(?:com|azure\.com)$/.test(new URL(baseUrl).hostname)
}
