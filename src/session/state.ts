import type { Workflow } from './workflow-state.ts'
import type {
  DelegateOutcome,
  GitState,
  HandoffOutcome,
  HandoffTarget,
  Usage,
  Whose,
} from './entries.ts'

export type SessionStatus = 'active' | 'paused' | 'completed' | 'abandoned'

/**
 * A list that may have left its oldest items behind. A full fold leaves none; a snapshot keeps the
 * recent ones and the number of the others, so that a long session opens as fast as a short one.
 */
export interface Shelf<T> {
  readonly earlier: number
  readonly items: readonly T[]
  /** The texts of the items left behind, where it has to be known whether one was there. */
  readonly leftOut?: readonly string[]
}

/** Anything that stands in a list of the document: the id is that of the entry that made it. */
export interface Item {
  readonly id: string
  readonly text: string
  /** When it happened, ISO, to be shown by the minute. */
  readonly at: string
}

export interface Step extends Item {
  readonly status: 'todo' | 'started' | 'done'
  readonly changedAt: string
  /** The conversation whose list it comes from; absent when somebody wrote it. */
  readonly plan?: string
}

export interface Decision extends Item {
  readonly context?: string
  readonly options?: string
  readonly choice?: string
  readonly rationale?: string
  readonly whose?: Whose
}

export interface Discovery extends Item {
  readonly gotcha: boolean
  readonly whose?: Whose
}

export interface Blocker extends Item {
  readonly whose?: Whose
  readonly resolvedAt?: string
  readonly resolution?: string
}

export interface KeyLine extends Item {
  /** The entry this line was drawn from at a checkpoint; absent when somebody wrote it. */
  readonly from?: string
}

/** `text` is the path. */
export interface FileLine extends Item {
  readonly description?: string
}

export interface Remark extends Item {
  readonly section: string
  readonly after: string
}

export interface CustomSection extends Item {
  readonly title: string
  readonly after: string
}

export interface Checkpoint extends Item {
  readonly tldr?: string
  readonly preCompact: boolean
  readonly git?: GitState
  readonly code?: {
    readonly commit: string
    readonly ref: string
    readonly leftOut?: readonly string[]
  }
}

/** `text` is the reason it was made for. */
export interface Handoff extends Item {
  readonly number: number
  readonly hash: string
  readonly tokens: number
  readonly isDraft: boolean
  readonly to?: HandoffTarget
  readonly git?: GitState
  readonly code?: { readonly commit: string; readonly ref: string }
  /** The latest times that somebody took it up. */
  readonly accepted: readonly Acceptance[]
}

export interface Acceptance {
  readonly id: string
  readonly at: string
  readonly outcome: HandoffOutcome
  readonly isForced: boolean
  readonly conversation?: string
}

/** `text` is the conversation's id as its harness gives it. */
export interface Conversation extends Item {
  readonly harness: string
  readonly endedAt?: string
  readonly reason?: string
}

export interface Request extends Item {
  readonly isRuling: boolean
}

/** `text` is the subject. */
export interface Commit extends Item {
  readonly commit: string
}

/** `text` is the command. */
export interface TestRun extends Item {
  readonly passed: boolean
  readonly summary?: string
}

/** `text` is what the agent was asked for, or what kind of agent it is. */
export interface AgentResult extends Item {
  readonly result?: string
}

/** A background agent that works, or worked, for the session. `text` is its order. */
export interface DelegateLine extends Item {
  readonly delegate: string
  readonly name: string
  readonly status: 'running' | DelegateOutcome
  readonly as?: string
  readonly task?: string
  readonly group?: string
  readonly branch?: string
  readonly summary?: string
  readonly because?: string
  readonly commit?: string
  readonly report?: string
  /** The entry that says what became of it. */
  readonly reported?: string
  readonly updatedAt: string
}

/** `text` is the conversation. */
export interface BudgetCrossing extends Item {
  readonly stage: number | 'smart-zone'
  readonly tokens: number
  readonly point?: number
  readonly window?: number
  /** Who told the tokens. */
  readonly source?: string
}

/** The last time that a conversation was compacted by its harness, unasked. */
export interface AutomaticCompaction {
  readonly conversation: string
  readonly tokens: number
  readonly at: string
}

export interface LastTurn {
  readonly at: string
  readonly conversation: string
  readonly said?: string
  readonly failure?: string
  readonly model?: string
  readonly usage?: Usage
}

export interface WrittenTldr {
  readonly text: string
  readonly id: string
  readonly at: string
  /** Something was recorded since it was written. */
  readonly isOutdated: boolean
  /** The checkpoint that renewed it because it was outdated. */
  readonly renewed?: string
}

/** Everything a session is, computed from its entries and from nothing else. */
export interface SessionState {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly goal: string
  readonly tasks: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string
  readonly compactions: number
  readonly openedGit: GitState
  readonly git: GitState
  /** The branch it is bound to: where it was opened, resumed, or last found by being there. */
  readonly branch?: string
  /** The worktree it is bound to, when that is not the main one. */
  readonly worktree?: string
  readonly pausedAt?: string
  readonly pauseNote?: string
  readonly closedAt?: string
  readonly closeReason?: string
  readonly tldr?: WrittenTldr
  readonly steps: Shelf<Step>
  readonly progress: Shelf<Item>
  readonly decisions: Shelf<Decision>
  readonly discoveries: Shelf<Discovery>
  readonly blockers: Shelf<Blocker>
  readonly next: Shelf<Item>
  readonly key: Shelf<KeyLine>
  readonly keyFiles: Shelf<FileLine>
  readonly changedFiles: Shelf<FileLine>
  readonly commands: Shelf<Item>
  readonly notes: Shelf<Item>
  readonly remarks: Shelf<Remark>
  readonly sections: Shelf<CustomSection>
  readonly fields: Readonly<Record<string, string>>
  readonly checkpoints: Shelf<Checkpoint>
  /** The last few, in a full fold too. */
  readonly handoffs: Shelf<Handoff>
  // What hooks notice by themselves: the recent end of it, in a full fold too.
  readonly conversations: Shelf<Conversation>
  readonly requests: Shelf<Request>
  readonly commits: Shelf<Commit>
  /** The latest run of each command. */
  readonly tests: Shelf<TestRun>
  readonly agents: Shelf<AgentResult>
  readonly delegates: Shelf<DelegateLine>
  /** The latest line that each conversation crossed. */
  readonly crossings: Shelf<BudgetCrossing>
  readonly lastAutomatic?: AutomaticCompaction
  readonly lastTurn?: LastTurn
  /** The phases, where the session follows a template. */
  readonly workflow?: Workflow
  readonly entryCount: number
  readonly lastId: string
  /** The newest `once` keys, to tell an event noticed twice. */
  readonly once: readonly string[]
}

export function count(shelf: Shelf<unknown>): number {
  return shelf.earlier + shelf.items.length
}

/** Steps done and steps in all. A snapshot leaves behind only done ones. */
export function stepCounts(state: SessionState): { done: number; total: number } {
  const done = state.steps.items.filter((step) => step.status === 'done').length
  return { done: done + state.steps.earlier, total: count(state.steps) }
}

/** The step being worked on: the one started last. */
export function currentStep(state: SessionState): Step | undefined {
  return state.steps.items
    .filter((step) => step.status === 'started')
    .reduce<Step | undefined>(
      (latest, step) => (latest && latest.changedAt > step.changedAt ? latest : step),
      undefined,
    )
}

export function openBlockers(state: SessionState): readonly Blocker[] {
  return state.blockers.items.filter((blocker) => blocker.resolvedAt === undefined)
}

export function isOpen(state: { readonly status: SessionStatus }): boolean {
  return state.status === 'active' || state.status === 'paused'
}
