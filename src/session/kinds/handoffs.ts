import { defined } from '../../text/defined.ts'
import type { Folds, Kinds } from './kind.ts'
import { type GitState, amountOf, fields, gitOf, item, str } from './read-fields.ts'
import {
  type Item,
  KEEP_ALL,
  type ItemList,
  type ListRules,
  updateItem,
  pushRecent,
} from './item-list.ts'
import type { SessionHead } from './session.ts'
import type { TaskStatus } from './tasks.ts'

export interface HandoffData {
  'checkpoint.made': {
    note?: string
    tldr?: string
    preCompact?: boolean
    git?: GitState
    /** The working tree as a commit, under `refs/stint/`. */
    code?: { commit: string; ref: string; leftOut?: readonly string[] }
  }
  /** The entry holds the whole text; the file under `handoffs/` is a copy that may be lost or edited. */
  'handoff.made': {
    number: number
    /** Over the text without the line that holds it. */
    hash: string
    tokens: number
    document: string
    reason?: string
    isDraft?: boolean
    to?: HandoffTarget
    git?: GitState
    code?: { commit: string; ref: string }
    conversation?: string
    /** How far the journal went; `entries` counts those about the work. */
    position: { bytes: number; entries: number; last: string }
    files?: readonly { path: string; sum: string }[]
    tasks?: readonly { task: string; status: TaskStatus }[]
  }
  'handoff.accepted': {
    handoff: string
    hash: string
    outcome: HandoffOutcome
    moved?: readonly string[]
    forced?: boolean
    conversation?: string
  }
}

export interface Checkpoint
  extends Item, Readonly<Pick<HandoffData['checkpoint.made'], 'tldr' | 'git' | 'code'>> {
  readonly preCompact: boolean
}

export interface HandoffTarget {
  readonly kind: 'task' | 'session'
  readonly id: string
  readonly name: string
}

export type HandoffOutcome = 'loaded' | 'stale' | 'mismatch'

/** `text` is the reason it was made for. */
export interface Handoff
  extends
    Item,
    Readonly<
      Pick<HandoffData['handoff.made'], 'number' | 'hash' | 'tokens' | 'to' | 'git' | 'code'>
    > {
  readonly isDraft: boolean
  readonly accepted: readonly Acceptance[]
}

export interface Acceptance {
  readonly id: string
  readonly at: string
  readonly outcome: HandoffOutcome
  readonly isForced: boolean
  readonly conversation?: string
}

export interface HandoffsState {
  readonly checkpoints: ItemList<Checkpoint>
  readonly handoffs: ItemList<Handoff>
}

export const listRules: ListRules<HandoffsState> = {
  checkpoints: { recent: 3, isOrdered: false },
  handoffs: KEEP_ALL,
}

const MAX_HANDOFFS = 6
const MAX_ACCEPTANCES = 3

export const fold: Folds<HandoffData, HandoffsState & Pick<SessionHead, 'tldr'>> = {
  'checkpoint.made': {
    outdatesTldr: false,
    bindsBranch: false,
    apply(state, data, entry) {
      if (state.tldr?.isOutdated === true) state.tldr = { ...state.tldr, renewed: entry.id }
      const git = gitOf(data.git)
      const code = data.code as { commit: string; ref: string } | undefined
      state.checkpoints.items.push({
        ...item(entry, data.note),
        preCompact: data.preCompact === true,
        ...fields(data, 'tldr'),
        ...defined({ git }),
        ...(typeof code?.commit === 'string' ? { code } : {}),
      })
    },
  },
  'handoff.made': {
    outdatesTldr: false,
    bindsBranch: false,
    apply: (state, data, entry) =>
      pushRecent(state.handoffs, handoffOf(entry, data), MAX_HANDOFFS, () => false),
  },
  'handoff.accepted': {
    outdatesTldr: false,
    apply(state, data, entry) {
      const acceptance = acceptanceOf(entry, data)
      // Acceptances of older handoffs are in the journal only.
      if (!state.handoffs.items.some(({ id }) => id === data.handoff)) return
      updateItem(state.handoffs, data.handoff, (handoff) => ({
        ...handoff,
        accepted: [...handoff.accepted, acceptance].slice(-MAX_ACCEPTANCES),
      }))
    },
  },
}

export const kinds = (): Kinds<HandoffData, HandoffsState> => {
  const usual = { group: 'tasks', writers: [], amendable: [], about: 'handover' } as const
  return {
    'checkpoint.made': {
      ...usual,
      label: 'checkpoint',
      searchedAs: 'checkpoint',
      group: 'session',
      amendable: ['note'],
      // Its TL;DR is composed from entries that search finds themselves.
      prose: ['note'],
    },
    // Its text is composed from entries that search finds themselves.
    'handoff.made': { ...usual, prose: ['reason'] },
    'handoff.accepted': { ...usual, prose: [] },
  }
}

export function isAccepted({ accepted }: { readonly accepted: readonly Acceptance[] }): boolean {
  return accepted.some(({ outcome, isForced }) => outcome === 'loaded' || isForced)
}

export function waitingHandoff({ handoffs }: HandoffsState): Handoff | undefined {
  const last = handoffs.items.at(-1)
  return last === undefined || last.isDraft || last.to !== undefined || isAccepted(last)
    ? undefined
    : last
}

type Data = Readonly<Record<string, unknown>>

export function handoffOf(
  entry: { readonly id: string; readonly at: string },
  data: Data,
): Handoff {
  const git = gitOf(data.git)
  const to = targetOf(data.to)
  const code = codeOf(data.code)
  return {
    ...item(entry, data.reason),
    number: amountOf(data.number) ?? 0,
    hash: str(data.hash),
    tokens: amountOf(data.tokens) ?? 0,
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
