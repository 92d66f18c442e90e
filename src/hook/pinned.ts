import type { SessionState } from '../session/state.ts'

/** Whether nothing happened since the last checkpoint, or since the handoff that made one. */
export function isPinned({ checkpoints, handoffs, lastId }: SessionState): boolean {
  return [checkpoints, handoffs].some(({ items }) => items.at(-1)?.id === lastId)
}
