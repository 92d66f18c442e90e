import { checksum } from '../journal/record.ts'
import type { SessionState } from '../session/state.ts'

/**
 * A sum over what people and agents wrote. What hooks notice by themselves is left out: a conversation that
 * is gone on with knows that from its own history.
 */
export function essenceOf(state: SessionState): string {
  const { id, goal, tldr, compactions, key, decisions, discoveries, blockers, next, steps } = state
  const { progress, notes, keyFiles, commands, sections, delegates } = state
  const written = [
    key,
    decisions,
    discoveries,
    blockers,
    next,
    progress,
    notes,
    keyFiles,
    commands,
    sections,
    delegates,
  ]
  const planned = steps.items.filter((step) => step.plan === undefined)
  return checksum(
    Buffer.from(
      JSON.stringify([
        id,
        goal,
        tldr?.text,
        compactions,
        written.map(({ items }) => items),
        planned,
      ]),
    ),
  )
}
