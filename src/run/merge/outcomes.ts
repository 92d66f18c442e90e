import { GitFailed } from '../../git/run-git.ts'
import { bounded } from '../attempt/bounded.ts'
import type { MergeOutcome, MergeProposal } from '../delegate/contract.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { inRepository } from './integration-tree.ts'
import type { MergeScene } from './scene.ts'
import { defined } from '../../text/defined.ts'

export function outcomeOf(
  { id, order }: DelegateState,
  how: MergeOutcome['how'],
  why: { readonly because?: string; readonly next?: string } = {},
): MergeOutcome {
  return { delegate: id, name: order.name, how, target: order.target, ...why }
}

export function again({ order }: DelegateState): string {
  return `stint merge ${order.name}`
}

export function retrying({ order }: DelegateState): string {
  return `stint delegate retry ${order.name}`
}

export function told(contradictions: readonly string[]): Pick<MergeOutcome, 'contradictions'> {
  return contradictions.length === 0 ? {} : { contradictions }
}

/** What went wrong, in one line. Of git all that it said, since its first line is not always the one that matters. */
export function reasonOf(error: unknown): string {
  if (error instanceof GitFailed && error.stderr.trim() !== '') return bounded(error.stderr)
  return bounded(error instanceof Error ? error.message : String(error))
}

/** What a person is asked about. */
export function proposalFor(
  { workspace: { place } }: MergeScene,
  { id, order, ready }: DelegateState,
  { from, to, contradictions }: Pick<MergeProposal, 'from' | 'to' | 'contradictions'>,
): MergeProposal {
  const stat = inRepository(
    place,
    'diff-tree',
    '--stat=100',
    '--no-color',
    '--no-ext-diff',
    '-M',
    from,
    to,
  ).trimEnd()
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
