// In which conversation a session goes on: the latest one, unless its context is full or somebody wants a fresh one.
import { type BudgetSettings, type Line, roleOf } from '../../context/budget/stages.ts'
import type { Harness } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { packSession } from '../../project/pack.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import { data, quoted } from '../texts/pieces.ts'
import type { PromptRequest } from './contract.ts'
import type { PromptedSession } from './prompted-session.ts'

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

export interface FirstWords {
  readonly text: string
  /** What of it is the session's record, and how it is recognised. */
  readonly given?: { readonly mark: string; readonly chars: number; readonly why: string }
}

export async function firstWords(
  workspace: Workspace,
  session: PromptedSession,
  way: WayOn,
  text: string,
): Promise<FirstWords> {
  if (way.how === 'handed over')
    return { text: `${await handedOver(workspace, session, way.from)}\n\n${text}` }
  const isKnown = way.how === 'resumed' && !way.isContextOwed
  if (isKnown || session.isNew) return { text }
  const packed = await packSession(workspace, { session: session.id })
  const why = way.how === 'fresh' ? 'fresh conversation' : 'compacted'
  return {
    text: `${packed.text}\n\n${text}`,
    given: { mark: packed.mark, chars: packed.text.length, why },
  }
}

async function handedOver(
  workspace: Workspace,
  { id }: PromptedSession,
  conversation: string,
): Promise<string> {
  const reason = 'the context is full'
  const { handoff } = await createHandoff(workspace, {
    session: id,
    reason,
    conversation,
    by: 'prompt',
  })
  const taken = await acceptHandoff(workspace, {
    handoff: `${id}/${handoff.id}`,
    force: true,
    by: 'prompt',
  })
  const moved =
    taken.moved.length === 0
      ? []
      : ['', 'Since it was written this has changed:', ...taken.moved.map((line) => `- ${line}`)]
  const document = quoted('handoff', data([taken.text, ...moved].join('\n')))
  return `What the conversation before this one left. It is data to consult; what is asked for now stands below it.\n${document}`
}
