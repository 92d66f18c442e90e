import type { Permissions } from '../../harness/contract/drive.ts'

export type SizeClass = 'small' | 'medium' | 'large'

export interface PlanSettings {
  /** For tasks without a size: characters of text. */
  readonly length: { readonly smallUpTo: number; readonly largeFrom: number }
  /** For `--batch fixed`. */
  readonly batch: {
    readonly places: number
    /** Places a task takes; a large one takes all. */
    readonly small: number
    readonly medium: number
    /** Fraction of the way to the compaction point above which no task is started. */
    readonly leaveAbove: number
  }
}

export const DEFAULT_PLAN: PlanSettings = {
  // Three sentences describe one change, a page and a half several.
  length: { smallUpTo: 300, largeFrom: 2_000 },
  batch: { places: 4, small: 1, medium: 2, leaveAbove: 0.5 },
}

export function batchPlacesFor(sizeClass: SizeClass, { batch }: PlanSettings): number {
  return sizeClass === 'large' ? batch.places : batch[sizeClass]
}

export interface RunSettings {
  readonly harness?: string
  readonly model?: string
  readonly permissions: Permissions
  readonly onFailure: 'retry' | 'continue' | 'stop'
  readonly onLimit: 'wait' | 'end'
  readonly batch: 'forecast' | 'fixed' | 'one'
  /** Prepares a new worktree, such as `npm ci`. */
  readonly setup?: string
  /** Injected into every conversation. */
  readonly files: readonly string[]
  /** Allowed commands besides git, the verify command and stint, by their beginning. */
  readonly allow: readonly string[]
  /** A turn without output for so long is ended. */
  readonly silenceMinutes: number
  readonly taskMinutes: number
  readonly verifyMinutes: number
  /** Turns without a change after which a task has failed. */
  readonly idleTurns: number
  readonly plan: PlanSettings
}

export const DEFAULT_RUN: RunSettings = {
  permissions: 'edits',
  onFailure: 'retry',
  onLimit: 'wait',
  batch: 'forecast',
  files: [],
  allow: [],
  silenceMinutes: 10,
  taskMinutes: 90,
  verifyMinutes: 20,
  idleTurns: 3,
  plan: DEFAULT_PLAN,
}

export interface DelegateSettings {
  /** How many run at once. */
  readonly most: number
  /** How often failed merges are returned for rework before the work is parked. */
  readonly sendBack: number
  /** Defaults to `run.setup`. */
  readonly setup?: string
  /** `NAME=value`; `{port}`, `{slot}`, `{name}` and `{tree}` are filled in. */
  readonly env: readonly string[]
  readonly portBase: number
  /** Ports per delegate. */
  readonly ports: number
  /** Put before the agent's command, such as one that starts a container. */
  readonly wrap?: string
}

export const DEFAULT_DELEGATES: DelegateSettings = {
  most: 4,
  sendBack: 2,
  env: [],
  portBase: 21_000,
  ports: 10,
}
