// In which conversation a session goes on: the latest one, unless its context is full or somebody wants a fresh one.
import { type BudgetSettings, type Line, roleOf } from '../../context/budget/stages.ts'
import type { Harness } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import type { PromptRequest } from './contract.ts'

export type WayOn =
  | { readonly how: 'fresh' }
  /** Through a handoff, since the conversation before is full. */
  | { readonly how: 'handed over'; readonly from: string }
  | {
      readonly how: 'resumed'
      readonly conversation: string
      /** The lines that it has crossed already. */
      readonly crossed: readonly Line[]
      /** It was compacted, and has not had the session's context since. */
      readonly isContextOwed: boolean
    }

export function wayOn(
  { state, entries }: { readonly state: SessionState; readonly entries: readonly RawEntry[] },
  { name, capabilities }: Pick<Harness, 'name' | 'capabilities'>,
  budget: BudgetSettings,
  request: PromptRequest,
): WayOn {
  if (request.isFresh === true) return { how: 'fresh' }
  if (!capabilities.resume) {
    if (request.conversation === undefined) return { how: 'fresh' }
    throw new StintError(
      'CANNOT_RESUME',
      `${name} cannot go on with a conversation`,
      'leave --conversation out',
    )
  }
  const latest = state.conversations.items.findLast(({ harness }) => harness === name)?.text
  const conversation = request.conversation ?? latest
  if (conversation === undefined) return { how: 'fresh' }
  const own = inEffect(entries).filter(({ data }) => data['conversation'] === conversation)
  const compacted = own.findLastIndex(({ kind }) => kind === 'context.compacted')
  const since = own.slice(compacted + 1)
  const crossed = since
    .filter(({ kind }) => kind === 'budget.crossed')
    .map(({ data }) => data['stage'] as Line)
  const isFull = crossed.some((line) => line !== 'smart-zone' && roleOf(line, budget) === 'force')
  // Whoever names it wants this one.
  if (isFull && request.conversation === undefined)
    return { how: 'handed over', from: conversation }
  const isContextOwed = compacted !== -1 && !since.some(({ kind }) => kind === 'context.given')
  return { how: 'resumed', conversation, crossed, isContextOwed }
}

/** The harness of a conversation that a session knows. */
export function harnessOfConversation(
  { conversations, name }: SessionState,
  conversation: string,
): string {
  const known = conversations.items.findLast(({ text }) => text === conversation)
  if (known !== undefined) return known.harness
  const others = conversations.items.map(({ text }) => text).toReversed()
  throw new StintError(
    'NO_CONVERSATION',
    `${name} has no conversation ${conversation}`,
    others.length === 0
      ? 'leave --conversation out: a fresh one is begun'
      : `it has ${others.slice(0, 5).join(', ')}`,
  )
}
