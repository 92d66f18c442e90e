import type { Tracking } from '../project/conversation/tracking.ts'

/** Nothing has been put before the model since the conversation began, was cleared, or was compacted. */
export function withNewWindow(tracking: Tracking): Tracking {
  const { given: _given, nudgedAt: _at, sawBoundary: _saw, ...rest } = tracking
  return { ...rest, nudged: [], edits: 0, windowNumber: (rest.windowNumber ?? 0) + 1 }
}
