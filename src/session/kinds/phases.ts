// A workflow, a session that follows a template of phases, and what it can be asked. Hooks load this: it imports nothing but types.
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
  /** `approval`: what comes after it opens when a person approved it. */
  readonly gate: 'approval' | 'none'
  /** Typically used, from and to. */
  readonly tokens?: readonly [number, number]
  /** Phases that name the same one share a conversation. */
  readonly conversation?: string
  readonly subPhases: readonly SubPhase[]
  /** Its work was called finished: it waits for its approval, or was the last. */
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
  /** The person's words, where an agent passed them on. */
  readonly said?: string
}

export interface Workflow {
  /** The session's short name. */
  readonly id: string
  /** The session's title. */
  readonly name: string
  readonly templateName: string
  readonly phases: readonly Phase[]
  /** The id of the phase, or of the sub-phase, that is being worked on. */
  readonly current: string
  /** 0 to 100; 100 when the last phase is done. */
  readonly percent: number
  readonly deliverables: readonly Deliverable[]
  /** Those that hold; going back to or before a phase takes its approval back. */
  readonly approvals: readonly Approval[]
  /** What somebody said to look at in this phase, instead of what its template says. */
  readonly focus?: string
}

export interface WorkflowState {
  /** The phases, where the session follows a template. */
  readonly workflow?: Workflow
}

/** `Phase 5b - TDD GREEN (45% complete)`, for a session that is a workflow. */
export function phaseLine({ workflow }: WorkflowState): string | undefined {
  if (workflow === undefined) return undefined
  const { id, name } = currentPlace(workflow).place
  return `Phase ${id} - ${name} (${workflow.percent}% complete)`
}

/** What to look at now: what somebody set, else what the template says of the sub-phase or the phase. */
export function focusOf({ workflow }: WorkflowState): string | undefined {
  if (workflow === undefined) return undefined
  const { place, phase } = currentPlace(workflow)
  return workflow.focus ?? place.focus ?? phase.focus
}

/** Where a workflow can be: a sub-phase, or a phase that has none. */
export interface Place {
  readonly place: SubPhase
  readonly phase: Phase
  readonly isLastOfPhase: boolean
}

export function placesOf(phases: readonly Phase[]): readonly Place[] {
  return phases.flatMap((phase) => {
    const places = phase.subPhases.length === 0 ? [phase] : phase.subPhases
    return places.map((place, index) => ({
      place,
      phase,
      isLastOfPhase: index === places.length - 1,
    }))
  })
}

/** The position among its places of a phase or sub-phase; of a phase that has sub-phases, that of the first. -1 when there is none. */
export function indexOfPlace(phases: readonly Phase[], id: string): number {
  return placesOf(phases).findIndex(({ place, phase }) => place.id === id || phase.id === id)
}

export function currentPlace(workflow: Workflow): Place {
  return placesOf(workflow.phases)[indexOfPlace(workflow.phases, workflow.current)]!
}

export function nextPlace(workflow: Workflow): Place | undefined {
  return placesOf(workflow.phases)[indexOfPlace(workflow.phases, workflow.current) + 1]
}

export function isApproved(workflow: Workflow, phase: string): boolean {
  return workflow.approvals.some((approval) => approval.phase === phase)
}

/** The gates that stand between where a workflow is and one of its places, and are not approved. */
export function closedGates(workflow: Workflow, target: number): readonly Phase[] {
  const from = indexOfPlace(workflow.phases, workflow.current)
  const between = placesOf(workflow.phases).slice(from, Math.max(from, target))
  return between
    .filter(
      ({ phase, isLastOfPhase }) =>
        isLastOfPhase && phase.gate === 'approval' && !isApproved(workflow, phase.id),
    )
    .map(({ phase }) => phase)
}

/** Phases that share a conversation. */
export interface ConversationGroup {
  readonly name: string
  readonly phases: readonly Phase[]
  /** What its phases typically use together; absent when none says. */
  readonly tokens?: readonly [number, number]
}

/** The conversations a workflow is meant to take, in order; none where its template does not say. */
export function conversationGroups({ phases }: Workflow): readonly ConversationGroup[] {
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

/**
 * Whether this is the place to go on in a fresh conversation: the last phase of one is done, or the first of the next
 * was entered and no conversation has begun since.
 */
export function isSplit({ workflow, conversations }: WorkflowState & ConversationsState): boolean {
  if (workflow === undefined) return false
  const { phase, place } = currentPlace(workflow)
  const position = workflow.phases.indexOf(phase)
  const [before, after] = [workflow.phases[position - 1], workflow.phases[position + 1]]
  const parts = (one: Phase | undefined, other: Phase | undefined) =>
    one !== undefined && other !== undefined && one.conversation !== other.conversation
  if (phase.status === 'done') return parts(phase, after)
  const isFirst = phase.subPhases.length === 0 || phase.subPhases[0] === place
  const hasBegun = conversations.items.some(({ at }) => at > (place.enteredAt ?? ''))
  return isFirst && parts(before, phase) && !hasBegun
}
