import type { GitState } from './entries.ts'
import type { CapturedState } from './kinds/captured.ts'
import type { StatementsState } from './kinds/statements.ts'
import type { ConversationsState } from './kinds/conversations.ts'
import type { DelegatesState } from './kinds/delegates.ts'
import type { DocumentState } from './kinds/document.ts'
import type { FilesState } from './kinds/files.ts'
import type { Blocker, FindingsState } from './kinds/findings.ts'
import type { HandoffsState } from './kinds/handoffs.ts'
import type { WorkflowState } from './kinds/phases.ts'
import type { SessionHead, SessionStatus } from './kinds/session.ts'
import type { ItemList } from './kinds/item-list.ts'
import type { Step, StepsState } from './kinds/steps.ts'
import type { TasksState } from './kinds/tasks.ts'

export type { SessionConversation } from './kinds/conversations.ts'
export type { SessionDelegate } from './kinds/delegates.ts'
export type { Blocker, Decision, Discovery } from './kinds/findings.ts'
export type { Acceptance, Checkpoint, Handoff } from './kinds/handoffs.ts'
export type { SessionStatus } from './kinds/session.ts'
export type { Item, ItemList } from './kinds/item-list.ts'
export type { Step } from './kinds/steps.ts'

/** Everything a session is, computed from its entries alone. */
export interface SessionState
  extends
    SessionHead,
    StepsState,
    FindingsState,
    DelegatesState,
    FilesState,
    DocumentState,
    HandoffsState,
    CapturedState,
    StatementsState,
    ConversationsState,
    WorkflowState,
    TasksState {
  readonly id: string
  readonly updatedAt: string
  readonly git: GitState
  /** Where it was opened, resumed or last observed. */
  readonly branch?: string
  readonly entryCount: number
  readonly lastId: string
  /** The newest `once` keys, to recognise repeats. */
  readonly once: readonly string[]
}

export function countItems(list: ItemList<unknown>): number {
  return list.earlier + list.items.length
}

/** A snapshot cuts only done steps. */
export function stepCounts(state: SessionState): { done: number; total: number } {
  const done = state.steps.items.filter((step) => step.status === 'done').length
  return { done: done + state.steps.earlier, total: countItems(state.steps) }
}

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

export function isSessionOpen(state: { readonly status: SessionStatus }): boolean {
  return state.status === 'active' || state.status === 'paused'
}
