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
