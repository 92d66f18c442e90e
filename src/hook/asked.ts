import type { Scene } from './scene.ts'

/** Whether the branch is not the session's. */
export function hasSwitched({ head, state }: Scene): boolean {
  return head.branch !== undefined && state.branch !== undefined && head.branch !== state.branch
}

/** Whether the agent ended its turn with a question, which the next prompt may answer. */
export function hasAsked({ state, tracking }: Scene): boolean {
  return (
    /\?\s*$/.test(state.lastTurn?.said ?? '') &&
    state.lastTurn?.conversation === tracking.conversation
  )
}
