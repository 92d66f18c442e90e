import type { Message, Part } from '../../history/items.ts'

export interface Joined {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly Part[]
}

/**
 * Messages as a provider wants them: by turns of one and the other, and the results of all tools of an answer right behind it
 * and before anything else that was said.
 */
export function joined(messages: readonly Message[]): readonly Joined[] {
  const turns: { role: 'user' | 'assistant'; parts: Part[] }[] = []
  for (const { role, parts } of messages) {
    if (role === 'system' || parts.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else turns.push({ role, parts: [...parts] })
  }
  return turns.map(({ role, parts }) => ({ role, parts: resultsFirst(parts) }))
}

function resultsFirst(parts: readonly Part[]): readonly Part[] {
  const isResult = ({ type }: Part) => type === 'tool result'
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}
