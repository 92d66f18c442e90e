import { join } from 'node:path'
import type { ConfiguredPrice } from '../../context/budget/prices.ts'
import { type BudgetSettings, DEFAULT_BUDGET } from '../../context/budget/stages.ts'
import type { ModelSettings } from '../../harness/contract/drive.ts'
import {
  DEFAULT_DELEGATES,
  DEFAULT_RUN,
  type DelegateSettings,
  type RunSettings,
} from './run-config.ts'

export interface Config {
  /** `git` commits journals and documents; `none` keeps them out of the repository. */
  readonly share: 'none' | 'git'
  readonly redact: {
    readonly patterns: readonly RegExp[]
    /** Looks like a secret and is none. */
    readonly allow: readonly string[]
  }
  readonly checkpoint: {
    readonly code: boolean
    readonly maxFileMegabytes: number
  }
  /** Shown with handoffs; only a run executes it. */
  readonly verify?: string
  /** Whether the first real work of a conversation opens a session. */
  readonly auto: 'on' | 'ask' | 'off'
  readonly nudges: ReadonlySet<Nudge>
  /** Folder for a log of each closed session. */
  readonly workflowLog?: string
  readonly budget: BudgetSettings
  /** Take precedence over the built-in list. */
  readonly prices: readonly ConfiguredPrice[]
  readonly run: RunSettings
  readonly delegates: DelegateSettings
  readonly api: ModelSettings
  /** Keys that are left out because the user has not agreed to their values. */
  readonly withheld: readonly string[]
}

export const NUDGES = [
  'switching',
  'ending',
  'compaction',
  'question',
  'decision',
  'edits',
  'unrelated',
  'output',
] as const
export type Nudge = (typeof NUDGES)[number]

export const DEFAULT_CONFIG: Config = {
  share: 'none',
  redact: { patterns: [], allow: [] },
  checkpoint: { code: true, maxFileMegabytes: 50 },
  auto: 'on',
  nudges: new Set(NUDGES),
  budget: DEFAULT_BUDGET,
  prices: [],
  run: DEFAULT_RUN,
  delegates: DEFAULT_DELEGATES,
  api: { providers: {} },
  withheld: [],
}

export function configPath(sessions: string): string {
  return join(sessions, 'config.yaml')
}
