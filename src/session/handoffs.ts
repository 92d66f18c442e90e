import type { EntryKind, HandoffOutcome, HandoffTarget } from './entries.ts'
import { fields, gitOf, item, str } from './entry-fields.ts'
import type { Acceptance, Handoff, SessionState } from './state.ts'
import { change } from './working-shelf.ts'
import type { Handler } from './working-state.ts'
import { defined } from '../text/defined.ts'

/** Whoever wants an older one finds it in the journal. */
const HANDOFFS_KEPT = 6
const ACCEPTED_KEPT = 3

export const HANDOFFS: { readonly [K in EntryKind]?: Handler<K> } = {
  'handoff.made': (state, data, entry) => {
    const list = state.handoffs
    list.items.push(handoffOf(entry, data))
    if (list.items.length <= HANDOFFS_KEPT) return
    list.items.shift()
    list.earlier += 1
  },
  'handoff.accepted': (state, data, entry) => {
    const acceptance = acceptanceOf(entry, data)
    // Of one that is no longer on the shelf nothing is remembered here.
    if (!state.handoffs.items.some(({ id }) => id === data.handoff)) return
    change<Handoff>(state.handoffs, data.handoff, (handoff) => ({
      ...handoff,
      accepted: [...handoff.accepted, acceptance].slice(-ACCEPTED_KEPT),
    }))
  },
}

/** Whether somebody went on with it. */
export function isTakenUp({ accepted }: { readonly accepted: readonly Acceptance[] }): boolean {
  return accepted.some(({ outcome, isForced }) => outcome === 'loaded' || isForced)
}

/** The handoff that waits for whoever goes on with the session. */
export function waitingHandoff({ handoffs }: SessionState): Handoff | undefined {
  const last = handoffs.items.at(-1)
  return last === undefined || last.isDraft || last.to !== undefined || isTakenUp(last)
    ? undefined
    : last
}

type Data = Readonly<Record<string, unknown>>

/** A handoff as its entry has it, read leniently. */
export function handoffOf(
  entry: { readonly id: string; readonly at: string },
  data: Data,
): Handoff {
  const git = gitOf(data.git)
  const to = targetOf(data.to)
  const code = codeOf(data.code)
  return {
    ...item(entry, data.reason),
    number: amount(data.number),
    hash: str(data.hash),
    tokens: amount(data.tokens),
    isDraft: data.isDraft === true,
    ...defined({ to, git, code }),
    accepted: [],
  }
}

export function acceptanceOf(
  entry: { readonly id: string; readonly at: string },
  data: Data,
): Acceptance {
  const outcome = OUTCOMES.find((known) => known === data.outcome) ?? 'mismatch'
  return {
    id: entry.id,
    at: entry.at,
    outcome,
    isForced: data.forced === true,
    ...fields(data, 'conversation'),
  }
}

const OUTCOMES: readonly HandoffOutcome[] = ['loaded', 'stale', 'mismatch']

function targetOf(value: unknown): HandoffTarget | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, id, name } = value as Data
  if (kind !== 'task' && kind !== 'session') return undefined
  return { kind, id: str(id), name: str(name) }
}

function codeOf(value: unknown): { commit: string; ref: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { commit, ref } = value as Data
  return typeof commit === 'string' && typeof ref === 'string' ? { commit, ref } : undefined
}

function amount(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0
}
