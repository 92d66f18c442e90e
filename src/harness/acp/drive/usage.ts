// What a turn used, as its answer tells it. The draft of the protocol speaks of the whole session; the agents that tell it
// (claude-agent-acp 0.99, codex-acp 2.6) give the sum of the turn.
import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, objectOf } from '../../../text/json-fields.ts'

export function usageIn(response: Json): Usage | undefined {
  const usage = objectOf(response['usage'])
  return usage === undefined ? quotaIn(response) : counted(usage)
}

function counted(usage: Json): Usage {
  const [input, output, cacheRead, cacheWritten, thought, total] = [
    'inputTokens',
    'outputTokens',
    'cachedReadTokens',
    'cachedWriteTokens',
    'thoughtTokens',
    'totalTokens',
  ].map((name) => countOf(usage[name]) ?? 0) as [number, number, number, number, number, number]
  const cached = cacheRead + cacheWritten
  // Whether the input has the cached tokens in it, and the output the thoughts, only the total tells.
  const isCachedWithin = cached > 0 && total === input + output && input >= cached
  const isThoughtApart = thought > 0 && total === input + output + cached + thought
  return {
    input: isCachedWithin ? input - cached : input,
    cacheWritten,
    cacheRead,
    output: isThoughtApart ? output + thought : output,
  }
}

/** How Gemini CLI tells it. */
function quotaIn(response: Json): Usage | undefined {
  const count = objectOf(objectOf(objectOf(response['_meta'])?.['quota'])?.['token_count'])
  if (count === undefined) return undefined
  return {
    input: countOf(count['input_tokens']) ?? 0,
    cacheWritten: 0,
    cacheRead: 0,
    output: countOf(count['output_tokens']) ?? 0,
  }
}
