import { GitFailed } from '../../git/run-git.ts'
import type { ProcessTag } from '../../harness/contract/drive.ts'

import { StintError, reasonOf } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { boundedLine } from '../attempt/run-context.ts'
import type { MergeOptions } from '../delegate/delegate-row.ts'
import { PROTECTED } from '../proof/protected-paths.ts'
import { type DelegateState, hasLiveProcess, isRejection } from '../delegate/delegates.ts'
import type { Emit, MergeOutcome } from '../entries.ts'

export interface MergeContext {
  readonly workspace: Workspace
  readonly options: MergeOptions
  readonly merger: ProcessTag
  readonly isStopped: AbortSignal
  readonly emit: Emit
  /** Called after each step; tests kill a merge there. */
  readonly afterStep: (step: MergeStep) => Promise<void>
  readonly emittedMessages: Set<string>
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

export function mergeStoppedError(): StintError {
  return new StintError('STOPPED', 'the merge was stopped')
}

export function refuseWhenStopped({ isStopped }: MergeContext): void {
  if (isStopped.aborted) throw mergeStoppedError()
}

export function emitMessage({ emit }: MergeContext, text: string): void {
  emit('message', { text })
}

interface MergeReason {
  readonly because?: string
  readonly next?: string
}

/** Undefined when the delegate can be merged. A rejected one is tried again. */
export function reasonNotToMerge(
  state: DelegateState,
  { allowProtected = [] }: MergeOptions = {},
): MergeReason | undefined {
  const { merge, move, order, status } = state
  const { name } = order
  const show = `stint delegate show ${name}`
  const wait = `stint delegate wait ${name}`
  const retry = retryCommand(state)
  if (order.isReadOnly) return { because: `it only reads; ${show} has its report`, next: show }
  switch (status) {
    case 'ready':
    case 'conflicted':
    case 'parked':
      return undefined
    case 'failed': {
      // Its work is complete, but for the user's agreement.
      const isAgreedTo = allowProtected.length > 0 && move?.because?.startsWith(PROTECTED) === true
      const isMergeable = move !== undefined && (isRejection(move) || isAgreedTo)
      return isMergeable ? undefined : { because: 'it failed', next: retry }
    }
    case 'running':
      return hasLiveProcess(state)
        ? { because: 'it is still running', next: wait }
        : { because: 'nobody runs it any more, and it is not finished', next: retry }
    case 'merging':
      return merge !== undefined && hasLiveProcess(state)
        ? { because: `process ${merge.merger.pid} merges it`, next: wait }
        : { because: 'its merge was cut off', next: `stint merge ${name}` }
    case 'merged':
    case 'discarded':
      return { because: `it is ${status} already` }
  }
}

export function toMergeOutcome(
  { id, order }: DelegateState,
  how: MergeOutcome['how'],
  why: MergeReason = {},
): MergeOutcome {
  return { delegate: id, name: order.name, how, target: order.target, ...why }
}

export function waitingOutcome(
  state: DelegateState,
  because?: string,
  next = `stint merge ${state.order.name}`,
): MergeOutcome {
  return toMergeOutcome(state, 'waiting', { ...defined({ because }), next })
}

export function retryCommand({ order }: DelegateState): string {
  return `stint delegate retry ${order.name}`
}

/** The error in one line. For git its whole stderr, since the first line is not always the one that matters. */
export function boundedReason(error: unknown): string {
  if (error instanceof GitFailed && error.stderr.trim() !== '') return boundedLine(error.stderr)
  return boundedLine(reasonOf(error))
}
