// Hooks load this file: it imports nothing but types.
import type { ConversationsState } from './conversations.ts'

/** `skipped` was passed over on the way to a later one. */
export type PhaseStatus = 'pending' | 'current' | 'waiting for approval' | 'done' | 'skipped'

export interface SubPhase {
  readonly id: string
  readonly name: string
  readonly status: PhaseStatus
  readonly focus?: string
  readonly enteredAt?: string
  readonly leftAt?: string
}

export interface Phase extends SubPhase {
  /** `approval`: the next phase opens when a person approves this one. */
  readonly gate: 'approval' | 'none'
  /** The typical range. */
  readonly tokens?: readonly [number, number]
  /** Phases with the same value share a conversation. */
  readonly conversation?: string
  readonly subPhases: readonly SubPhase[]
  /** Waiting for approval, or the last phase. */
  readonly finishedAt?: string
}

export interface Deliverable {
  readonly path: string
  readonly phase?: string
  readonly at: string
}

export interface Approval {
  readonly phase: string
  readonly at: string
  readonly note?: string
  /** The person's words, passed on by an agent. */
  readonly said?: string
}

export interface Workflow {
  /** The session's short name. */
  readonly id: string
  /** The session's title. */
  readonly name: string
  readonly templateName: string
  readonly phases: readonly Phase[]
  /** A phase or a sub-phase. */
  readonly current: string
  readonly percent: number
  readonly deliverables: readonly Deliverable[]
  /** Going back to or before a phase revokes its approval. */
  readonly approvals: readonly Approval[]
  /** Overrides the template's focus for this phase. */
  readonly focus?: string
}

export interface WorkflowState {
  readonly workflow?: Workflow
}

/** `Phase 5b - TDD GREEN (45% complete)` */
export function phaseLine({ workflow }: WorkflowState): string | undefined {
  if (workflow === undefined) return undefined
  const { id, name } = currentLeaf(workflow).leaf
  return `Phase ${id} - ${name} (${workflow.percent}% complete)`
}

export function currentFocus({ workflow }: WorkflowState): string | undefined {
  if (workflow === undefined) return undefined
  const { leaf, phase } = currentLeaf(workflow)
  return workflow.focus ?? leaf.focus ?? phase.focus
}

/** A sub-phase, or a phase that has none. */
export interface LeafPhase {
  readonly leaf: SubPhase
  readonly phase: Phase
  readonly isLastOfPhase: boolean
}

export function leafPhases(phases: readonly Phase[]): readonly LeafPhase[] {
  return phases.flatMap((phase) => {
    const leaves = phase.subPhases.length === 0 ? [phase] : phase.subPhases
    return leaves.map((leaf, index) => ({
      leaf,
      phase,
      isLastOfPhase: index === leaves.length - 1,
    }))
  })
}

/** For a phase with sub-phases, the position of the first; -1 when there is none. */
export function leafIndex(phases: readonly Phase[], id: string): number {
  return leafPhases(phases).findIndex(({ leaf, phase }) => leaf.id === id || phase.id === id)
}

export function currentLeaf(workflow: Workflow): LeafPhase {
  return leafPhases(workflow.phases)[leafIndex(workflow.phases, workflow.current)]!
}

export function nextLeaf(workflow: Workflow): LeafPhase | undefined {
  return leafPhases(workflow.phases)[leafIndex(workflow.phases, workflow.current) + 1]
}

export function isApproved(workflow: Workflow, phase: string): boolean {
  return workflow.approvals.some((approval) => approval.phase === phase)
}

/** The unapproved gates between the current leaf and `target`. */
export function closedGates(workflow: Workflow, target: number): readonly Phase[] {
  const from = leafIndex(workflow.phases, workflow.current)
  const between = leafPhases(workflow.phases).slice(from, Math.max(from, target))
  return between
    .filter(
      ({ phase, isLastOfPhase }) =>
        isLastOfPhase && phase.gate === 'approval' && !isApproved(workflow, phase.id),
    )
    .map(({ phase }) => phase)
}

export function conversationGroups({ phases }: Workflow) {
  const names = [...new Set(phases.flatMap(({ conversation }) => conversation ?? []))]
  return names.map((name) => {
    const own = phases.filter(({ conversation }) => conversation === name)
    const tokens = own.flatMap((phase) => (phase.tokens === undefined ? [] : [phase.tokens]))
    const sum = (end: 0 | 1) => tokens.reduce((total, range) => total + range[end], 0)
    return {
      name,
      phases: own,
      ...(tokens.length === 0 ? {} : { tokens: [sum(0), sum(1)] as const }),
    }
  })
}

/** The last phase of a conversation is done, or the first of the next was entered without a new conversation. */
export function isAtConversationSplit({
  workflow,
  conversations,
}: WorkflowState & ConversationsState): boolean {
  if (workflow === undefined) return false
  const { phase, leaf } = currentLeaf(workflow)
  const position = workflow.phases.indexOf(phase)
  const [before, after] = [workflow.phases[position - 1], workflow.phases[position + 1]]
  const isSplitBetween = (one: Phase | undefined, other: Phase | undefined) =>
    one !== undefined && other !== undefined && one.conversation !== other.conversation
  if (phase.status === 'done') return isSplitBetween(phase, after)
  const isFirst = phase.subPhases.length === 0 || phase.subPhases[0] === leaf
  const hasBegun = conversations.items.some(({ at }) => at > (leaf.enteredAt ?? ''))
  return isFirst && isSplitBetween(before, phase) && !hasBegun
}
