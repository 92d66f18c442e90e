// What `stint setup --check` answers.
import type { Scope } from './places.ts'
import type { Probe } from './probe.ts'
import type { ServerAnswer } from './server-probe.ts'

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

/** A file that has an MCP server of our name. */
export interface ServerPlace {
  readonly path: string
  /** `other`: one that no setup wrote. */
  readonly status: 'current' | 'outdated' | 'other' | 'unreadable'
}

export interface ServerReport {
  /** None where it was left out. */
  readonly places: readonly ServerPlace[]
  /** What settings say of the server of `.mcp.json`; where they say nothing Claude Code asks. Null where there is none. */
  readonly approval: 'approved' | 'refused' | 'asked' | null
  /** What it said when it was started; null where there was nothing to start. */
  readonly answer: ServerAnswer | null
}

export interface SetupReport {
  readonly places: readonly PlaceReport[]
  readonly server: ServerReport
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
  | 'server outdated'
  | 'server not answering'
  | 'no project'
  | 'never fired'

export interface SetupProblem {
  readonly kind: ProblemKind
  readonly what: string
  readonly advice: string
}
