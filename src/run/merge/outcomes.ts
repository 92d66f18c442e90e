import { GitFailed } from '../../git/run-git.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { defined } from '../../text/defined.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { bounded } from '../attempt/run-context.ts'
import type { MergeOptions, MergeProposal } from '../delegate/delegate-row.ts'
import { type DelegateState, isRejection } from '../delegate/delegates.ts'
import { inRepository } from '../delegate/kept-commits.ts'
import type { Emit, MergeOutcome } from '../entries.ts'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'

/** Why a delegate is not to be merged now, and what to do; undefined when it is. One that did not go in before is tried again. */
export function reasonNotToMerge(
  state: DelegateState,
): { readonly because: string; readonly next?: string } | undefined {
  const { merge, move, order, run, status } = state
  const { name } = order
  if (order.isReadOnly)
    return {
      because: `it only reads; stint delegate show ${name} has its report`,
      next: `stint delegate show ${name}`,
    }
  switch (status) {
    case 'ready':
    case 'conflicted':
    case 'parked':
      return undefined
    case 'failed':
      return move !== undefined && isRejection(move)
        ? undefined
        : { because: 'it failed', next: `stint delegate retry ${name}` }
    case 'running':
      return run.ended === undefined && isAlive(run.runner)
        ? { because: 'it is still running', next: `stint delegate wait ${name}` }
        : {
            because: 'nobody runs it any more, and it is not finished',
            next: `stint delegate retry ${name}`,
          }
    case 'merging':
      return merge !== undefined && isAlive(merge.merger)
        ? { because: `process ${merge.merger.pid} merges it`, next: `stint delegate wait ${name}` }
        : { because: 'its merge was cut off', next: `stint merge ${name}` }
    case 'merged':
    case 'discarded':
      return { because: `it is ${status} already` }
  }
}

export function outcomeOf(
  { id, order }: DelegateState,
  how: MergeOutcome['how'],
  why: { readonly because?: string; readonly next?: string } = {},
): MergeOutcome {
  return { delegate: id, name: order.name, how, target: order.target, ...why }
}

/** Nothing is wrong with it, and it may be merged later. */
export function waiting(state: DelegateState, because?: string, next?: string): MergeOutcome {
  const again = next ?? `stint merge ${state.order.name}`
  return outcomeOf(state, 'waiting', { ...defined({ because }), next: again })
}

export function notReady(state: DelegateState, because: string, next?: string): MergeOutcome {
  return outcomeOf(state, 'not ready', { because, ...defined({ next }) })
}

export function retryCommand({ order }: DelegateState): string {
  return `stint delegate retry ${order.name}`
}

/** What went wrong, in one line. Of git all that it said, since its first line is not always the one that matters. */
export function reasonOf(error: unknown): string {
  if (error instanceof GitFailed && error.stderr.trim() !== '') return bounded(error.stderr)
  return bounded(error instanceof Error ? error.message : String(error))
}

/** What a person is asked about. */
export function proposalFor(
  { place }: Workspace,
  { id, order, ready }: DelegateState,
  { from, to, contradictions }: Pick<MergeProposal, 'from' | 'to' | 'contradictions'>,
): MergeProposal {
  const how = ['--stat=100', '--no-color', '--no-ext-diff', '-M']
  const stat = inRepository(place, 'diff-tree', ...how, from, to).trimEnd()
  const summary = ready?.summary
  return {
    delegate: id,
    name: order.name,
    target: order.target,
    from,
    to,
    stat,
    contradictions,
    ...defined({ summary }),
  }
}

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
