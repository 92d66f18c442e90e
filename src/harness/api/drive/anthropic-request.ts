import { anthropicMessages } from '../../../history/formats/anthropic.ts'
import { type Json } from '../../../text/json-fields.ts'
import type { ModelRequest } from './model-request.ts'
import { defined } from '../../../text/defined.ts'

type Block = Record<string, unknown>

/** The body of a request to the Messages API. */
export function anthropicBody({
  settings,
  model,
  maxOutput,
  system,
  items,
  tools,
}: ModelRequest): Json {
  const messages = anthropicMessages(items, { isSystemSaidByUser: true }).map(
    ({ role, content }) => ({
      role,
      content: content.filter(isAsSigned).map((block): Block => ({ ...block })),
    }),
  )
  const standing = system.map((text): Block => ({ type: 'text', text }))
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  // What stays the same: the instructions, then the files it began with. Then the way so far, twice, so that the provider finds
  // where the request before ended however much came since. It takes no more than these four.
  const opening = users[0]?.slice(0, 1) ?? []
  const marked = [
    ...standing.slice(-1),
    ...opening,
    ...users.slice(-2).flatMap((content) => content.slice(-1)),
  ]
  for (const block of new Set(marked)) block['cache_control'] = { type: 'ephemeral' }
  return {
    model,
    max_tokens: maxOutput,
    stream: true,
    system: standing,
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      input_schema: input,
    })),
    messages,
    ...defined({ thinking: thinkingFor(settings.thinking) }),
    ...(settings.effort === undefined ? {} : { output_config: { effort: settings.effort } }),
  }
}

/** A thought from which a secret was taken before it was stored is not the one that was signed. */
function isAsSigned({ type, thinking }: Json): boolean {
  return type !== 'thinking' || typeof thinking !== 'string' || !thinking.includes('[redacted:')
}

function thinkingFor(thinking: number | 'adaptive' | undefined): Json | undefined {
  if (thinking === undefined) return undefined
  return thinking === 'adaptive'
    ? { type: 'adaptive' }
    : { type: 'enabled', budget_tokens: thinking }
}
