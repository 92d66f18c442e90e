import type { ProcessMark } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { MergeOptions } from '../delegate/contract.ts'

/** What all merges of one call share. */
export interface MergeContext {
  readonly workspace: Workspace
  readonly options: MergeOptions
  /** Who merges. */
  readonly merger: ProcessMark
  readonly isStopped: AbortSignal
  readonly emit: Emit
  /** Called behind each step that a killed merge may have been the last to make. */
  readonly at: (step: MergeStep) => Promise<void>
  /** What is said once, however many are merged. */
  readonly said: Set<string>
}

export type MergeStep =
  | 'begun'
  | 'merge made'
  | 'verified'
  | 'kept'
  | 'landing'
  | 'landed'
  | 'journals merged'
  | 'merged'

export const STOPPED = 'STOPPED'
import type { Emit } from '../events.ts'

export function refuseWhenStopped({ isStopped }: Pick<MergeContext, 'isStopped'>): void {
  if (isStopped.aborted) throw new StintError(STOPPED, 'the merge was stopped')
}

export function say({ emit }: Pick<MergeContext, 'emit'>, text: string): void {
  emit('message', { text })
}

export function sayOnce(context: Pick<MergeContext, 'said' | 'emit'>, text: string): void {
  if (!context.said.has(text)) say(context, text)
  context.said.add(text)
}
