// What `stint setup --check` answers.
import type { Scope } from './places.ts'
import type { Probe } from './probe.ts'

/** What one settings file says of our hooks. */
export interface PlaceReport {
  readonly scope: Scope
  readonly path: string
  readonly status: 'current' | 'outdated' | 'none' | 'unreadable'
  /** The events that are registered as they should be. */
  readonly events: readonly string[]
  /** The plugin of ours that it turns on. */
  readonly plugin?: string
  /** Why it cannot be read. */
  readonly reason?: string
}

export interface SetupReport {
  readonly places: readonly PlaceReport[]
  /** The settings files that turn every hook off. */
  readonly disabledBy: readonly string[]
  readonly command: Probe
  /** When each event last fired in this project. */
  readonly fired: Readonly<Record<string, string | null>>
  /** What is not wrong, but good to know. */
  readonly notes: readonly string[]
  readonly problems: readonly SetupProblem[]
  readonly isWorking: boolean
}

type ProblemKind =
  | 'unreadable'
  | 'not registered'
  | 'outdated'
  | 'twice'
  | 'disabled'
  | 'not found'
  | 'not answering'
  | 'no project'
  | 'never fired'

export interface SetupProblem {
  readonly kind: ProblemKind
  readonly what: string
  readonly advice: string
}
