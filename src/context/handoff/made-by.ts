import type { SessionState } from '../../session/state.ts'
import { defined } from '../../text/defined.ts'

/** Which program's conversation a handoff comes from: the one it is made in, else the one that was there last. */
export function harnessOf(
  state: SessionState,
  conversation?: string,
): { harness: string; conversation: string; model?: string } | undefined {
  const { items } = state.conversations
  const known =
    conversation === undefined ? items.at(-1) : items.findLast(({ text }) => text === conversation)
  const id = conversation ?? known?.text
  if (id === undefined) return undefined
  const model = state.lastTurn?.conversation === id ? state.lastTurn.model : undefined
  return {
    harness: known?.harness ?? 'unknown',
    conversation: id,
    ...defined({ model }),
  }
}
