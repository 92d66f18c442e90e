// What the log of a delegate amounts to. Pure.
import type { DelegateMove, DelegateOrder, DelegateStatus } from '../delegate-order.ts'
import type { RunEntry, RunEntryData } from '../entries.ts'
import { isWhole } from '../entry-shapes.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { defined } from '../../text/defined.ts'

export interface DelegateState {
  readonly id: string
  readonly order: DelegateOrder
  readonly status: DelegateStatus
  /** The last step it made, if it has made one. */
  readonly move?: DelegateMove
  /** When it came to where it stands. */
  readonly since: string
  /** What it last brought to an end that was proved. */
  readonly ready?: DelegateMove
  /** What it has still to mend: what did not go into the target when it was last tried. */
  readonly toMend?: DelegateMove
  /** Somebody has worked on it. Before that it is with whoever made it. */
  readonly isBegun: boolean
  /** How often its work did not go into the target, by a conflict or by a red verify command. */
  readonly rejected: number
  /** What was said to it when it was begun again, the oldest first. */
  readonly notes: readonly string[]
  /** The merge that goes on, or that somebody died in. */
  readonly merge?: RunEntryData['merge.begun'] & {
    readonly landing?: RunEntryData['merge.landing']
  }
  /** Its sessions, attempts and usage. */
  readonly run: RunState
}

/** Undefined for what is no delegate. Never throws on any entries. */
export function foldDelegate(id: string, all: readonly RunEntry[]): DelegateState | undefined {
  const run = foldRun(all)
  const order = run?.started.delegate
  if (run === undefined || order === undefined) return undefined
  let status: DelegateStatus = 'running'
  let move: DelegateMove | undefined
  let ready: DelegateMove | undefined
  let toMend: DelegateMove | undefined
  let merge: DelegateState['merge']
  let since = run.startedAt
  let rejected = 0
  let isBegun = false
  const notes: string[] = []
  for (const entry of all.filter(isWhole)) {
    if (entry.kind === 'run.started' || entry.kind === 'run.resumed') {
      status = 'running'
      merge = undefined
      if (entry.kind === 'run.resumed') isBegun = true
    } else if (entry.kind === 'delegate.moved') {
      status = entry.data.to
      move = entry.data
      merge = undefined
      if (status === 'ready') {
        // Ready again as it was before is nothing mended.
        if (move.commit !== ready?.commit) toMend = undefined
        ready = move
      }
      if (isRejection(move)) {
        rejected += 1
        toMend = move
      }
    } else if (entry.kind === 'merge.begun') {
      status = 'merging'
      merge = entry.data
    } else if (entry.kind === 'merge.landing' && merge !== undefined)
      merge = { ...merge, landing: entry.data }
    else {
      if (entry.kind === 'delegate.told') notes.push(entry.data.text)
      continue
    }
    since = entry.at
  }
  return {
    id,
    order,
    status,
    since,
    isBegun,
    rejected,
    notes,
    run,
    ...defined({ move, ready, toMend, merge }),
  }
}

/** Its work was finished and did not go into the target as that stood: something for it to mend. */
export function isRejection({ to, onto }: DelegateMove): boolean {
  return (to === 'conflicted' || to === 'failed') && onto !== undefined
}
