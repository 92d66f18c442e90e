import type { Permissions } from '../../harness/contract/drive.ts'
import { DEFAULT_PLAN, type PlanSettings } from './plan-settings.ts'

/** What the section `run` of the configuration may say. */
export interface RunSettings {
  readonly harness?: string
  readonly model?: string
  readonly permissions: Permissions
  readonly onFailure: 'retry' | 'continue' | 'stop'
  readonly onLimit: 'wait' | 'end'
  readonly batch: 'forecast' | 'fixed' | 'one'
  /** A command that makes a new worktree ready to work in, such as `npm ci`. */
  readonly setup?: string
  /** Files that every conversation is given with its set-up. */
  readonly files: readonly string[]
  /** Commands an agent may run besides git, the verify command and stint, by their beginning. */
  readonly allow: readonly string[]
  /** After so long without a word of the agent its turn is ended. */
  readonly silenceMinutes: number
  /** After so long a task has failed. */
  readonly taskMinutes: number
  readonly verifyMinutes: number
  /** After so many turns that changed nothing a task has failed. */
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

export const RUN_KEYS = {
  harness: 'text',
  model: 'text',
  permissions: ['ask', 'edits', 'all'],
  on_failure: ['retry', 'continue', 'stop'],
  on_limit: ['wait', 'end'],
  batch: ['forecast', 'fixed', 'one'],
  setup: 'text',
  files: 'texts',
  allow: 'texts',
  silence_minutes: 'number',
  task_minutes: 'number',
  verify_minutes: 'number',
  idle_turns: 'number',
  small_up_to: 'number',
  large_from: 'number',
  batch_places: 'number',
  batch_small: 'number',
  batch_medium: 'number',
  batch_leave_above: 'number',
} as const

/** The settings in a section; what is wrong in it is refused with the reason. */
export function runSettingsFrom(
  section: Record<string, unknown>,
  refuse: (reason: string) => Error,
): RunSettings {
  const read: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(section)) {
    const kind = Object.hasOwn(RUN_KEYS, key) ? RUN_KEYS[key as keyof typeof RUN_KEYS] : undefined
    if (kind === undefined)
      throw refuse(
        `there is no setting "run.${key}"; there are ${Object.keys(RUN_KEYS).join(', ')}`,
      )
    const problem = problemWith(kind, value)
    if (problem !== undefined) throw refuse(`"run.${key}" ${problem}`)
    read[key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] = value
  }
  const { smallUpTo, largeFrom, batchPlaces, batchSmall, batchMedium, batchLeaveAbove, ...plain } =
    read
  const { length, batch } = DEFAULT_PLAN
  const plan = {
    length: { smallUpTo: smallUpTo ?? length.smallUpTo, largeFrom: largeFrom ?? length.largeFrom },
    batch: {
      places: batchPlaces ?? batch.places,
      small: batchSmall ?? batch.small,
      medium: batchMedium ?? batch.medium,
      leaveAbove:
        batchLeaveAbove === undefined ? batch.leaveAbove : (batchLeaveAbove as number) / 100,
    },
  } as PlanSettings
  if (plan.length.smallUpTo >= plan.length.largeFrom)
    throw refuse('"run.small_up_to" must be below "run.large_from"')
  return { ...DEFAULT_RUN, ...plain, plan }
}

function problemWith(
  kind: (typeof RUN_KEYS)[keyof typeof RUN_KEYS],
  value: unknown,
): string | undefined {
  if (kind === 'text')
    return typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a text'
  if (kind === 'number')
    return typeof value === 'number' && value > 0 ? undefined : 'must be a number above 0'
  if (kind === 'texts') {
    const isList =
      Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '')
    return isList ? undefined : 'must be a list of texts'
  }
  return (kind as readonly unknown[]).includes(value) ? undefined : `is one of ${kind.join(', ')}`
}
