// What a workflow, a session that follows a template of phases, can be asked. Hooks load this: it imports nothing but types.
import type { SessionState } from './state.ts'
import type { Phase, SubPhase, Workflow } from './workflow-state.ts'

/** `Phase 5b - TDD GREEN (45% complete)`, for a session that is a workflow. */
export function phaseLine({ workflow }: SessionState): string | undefined {
  if (workflow === undefined) return undefined
  const { id, name } = currentPlace(workflow).place
  return `Phase ${id} - ${name} (${workflow.percent}% complete)`
}

/** What to look at now: what somebody set, else what the template says of the sub-phase or the phase. */
export function focusOf({ workflow }: SessionState): string | undefined {
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
export function isSplit({ workflow, conversations }: SessionState): boolean {
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
