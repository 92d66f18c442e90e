import type { SpokenStatement } from './statement.ts'

/** Marks what the agent stated and later evidence supports. */
export function confirmStatements<T extends SpokenStatement>(
  known: readonly T[],
  evidence: readonly string[],
): readonly T[] {
  return known.map((each) =>
    each.speaker === 'agent' && evidence.some((text) => text.includes(each.text))
      ? { ...each, isConfirmed: true }
      : each,
  )
}
