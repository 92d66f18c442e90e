import type { SessionState } from '../../session/state.ts'

/**
 * The paths that a session is to leave behind: what its workflow, if it follows one, calls deliverables. Read leniently,
 * as a list of paths or of things with a path.
 */
export function deliverablesOf(state: SessionState): readonly string[] {
  const { workflow } = state as { readonly workflow?: unknown }
  if (typeof workflow !== 'object' || workflow === null) return []
  const { deliverables } = workflow as { readonly deliverables?: unknown }
  if (!Array.isArray(deliverables)) return []
  return deliverables.flatMap((one: unknown) => {
    const path = typeof one === 'object' && one !== null ? (one as { path?: unknown }).path : one
    return typeof path === 'string' && path !== '' ? [path] : []
  })
}
