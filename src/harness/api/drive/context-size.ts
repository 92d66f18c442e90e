import { estimateTokens } from '../../../text/tokens.ts'
import type { Message, Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'

/** What the descriptions of the tools take, and a little more. */
const TOOLS_TOKENS = 800
/** As large as pictures get before providers scale them down. */
const PICTURE_TOKENS = 1600

export function tokensOf({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

/** The tokens that messages come to: as the model counted them last, and estimated from there on. Rather too many than too few. */
export function contextTokens(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ usage }) => usage !== undefined && tokensOf(usage) > 0)
  const counted = last === -1 ? TOOLS_TOKENS : tokensOf(messages[last]!.usage!)
  return messages.slice(last + 1).reduce((sum, { parts }) => sum + estimated(parts), counted)
}

function estimated(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + estimatedPart(part), 0)
}

function estimatedPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return estimateTokens(part.text)
    case 'tool use':
      return estimateTokens(JSON.stringify(part.input))
    case 'tool result':
      return estimated(part.parts)
    case 'image':
    case 'image link':
      return PICTURE_TOKENS
    case 'other':
      return estimateTokens(JSON.stringify(part.block))
  }
}
