// What the log of a delegate amounts to. Pure.
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import type { Place } from '../../project/store/place.ts'
import { runIds } from '../../project/store/run-files.ts'
import { defined } from '../../text/defined.ts'
import {
  type DelegateMove,
  type DelegateOrder,
  type DelegateStatus,
  type RunEntry,
  type RunEntryData,
  isWhole,
} from '../entries.ts'
import { readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { setTimeout as sleep, setTimeout as wait } from 'node:timers/promises'
import { Claims } from '../loop/claims.ts'
import { thisProcess } from '../loop/start-run.ts'

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

/** The oldest first. */
export function allDelegates(place: Place): readonly DelegateState[] {
  return runIds(place).flatMap((id) => foldDelegate(id, readRun(place, id)) ?? [])
}

/** The delegate as its log has it now. */
export function delegateNow(place: Place, id: string): DelegateState {
  const state = foldDelegate(id, readRun(place, id))
  if (state !== undefined) return state
  throw new StintError('NO_DELEGATE', `${id} is no delegate`, 'stint delegates lists them')
}

/** The one that a name means: its name, its id, or a part of either that only it has. */
export function findDelegate(place: Place, name: string): DelegateState {
  const all = allDelegates(place)
  const word = name.trim().toLowerCase()
  const exact = all.filter(({ id, order }) => order.name === word || id === word)
  const found =
    exact.length > 0
      ? exact
      : all.filter(
          ({ id, order }) => word !== '' && (order.name.includes(word) || id.includes(word)),
        )
  const [only, ...others] = found
  if (only === undefined)
    throw new StintError(
      'NO_DELEGATE',
      `there is no delegate "${name}"`,
      'stint delegates lists them',
    )
  if (others.length > 0) {
    throw new StintError(
      'DELEGATE_AMBIGUOUS',
      `"${name}" fits ${found.length} delegates: ${found.map(({ order }) => order.name).join(', ')}`,
      'name it in full; stint delegates lists them',
    )
  }
  return only
}

/** The one that is called just that, for what is not undone by the way: its name, its id, or the end of that which is shown. */
export function findExactly(place: Place, name: string): DelegateState {
  const found = findDelegate(place, name)
  const word = name.trim().toLowerCase()
  if ([found.order.name, found.id, shortId(found.id)].includes(word)) return found
  throw new StintError(
    'DELEGATE_INEXACT',
    `"${name}" is only a part of what a delegate is called, which may mean another: it fits ${found.order.name} (${shortId(found.id)})`,
    `say it in full if it is that one: ${found.order.name}`,
  )
}

export function isSameProcess(a: ProcessMark, b: ProcessMark): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt
}

/** Whether somebody works on it or merges it now. */
export function isAttended({ status, merge, run }: DelegateState): boolean {
  if (status === 'merging') return merge !== undefined && isAlive(merge.merger)
  return status === 'running' && run.ended === undefined && isAlive(run.runner)
}

/** It is called running or merging, and whoever did that is gone. */
export function isOrphaned(state: DelegateState): boolean {
  return (state.status === 'running' || state.status === 'merging') && !isAttended(state)
}

/** Its work is neither in the target nor given up. */
export function isUnsettled({ order, status }: DelegateState): boolean {
  // The report of one that only reads is delivered when it is ready.
  return status !== 'merged' && status !== 'discarded' && !(order.isReadOnly && status === 'ready')
}

// Two commands never make, begin or settle delegates on top of each other: each waits for its turn, as long as whoever has it lives.

const LOOK_MS = 25

/** Names and slots are given out one delegate at a time. */
export const MAKING = 'making a delegate'

/** Whoever changes where a delegate stands: takes it up, finds that nobody does any more, begins to merge it, gives it up. */
export function takingUp(id: string): string {
  return `taking up ${id}`
}

export async function inTurn<T>(
  place: Place,
  what: string,
  work: () => T | Promise<T>,
): Promise<T> {
  // Each call has a name of its own, so that two in one process wait for each other too.
  const claims = new Claims(place, mintId(undefined), thisProcess())
  try {
    while (!claims.take(what)) await sleep(LOOK_MS)
    return await work()
  } finally {
    claims.releaseAll()
  }
}

/** What whoever merges has claimed: one at a time in a repository. */
export const QUEUE = 'merge queue'

const LOOK_AGAIN_MS = 200

/** Waits for its turn and answers how to let go of it; undefined when stopped before that. */
export async function takeQueue(
  place: Place,
  merger: ProcessMark,
  { isStopped, waiting }: { readonly isStopped: AbortSignal; readonly waiting: () => void },
): Promise<(() => void) | undefined> {
  // Each call has a name of its own, so that two in one process wait for each other too.
  const claims = new Claims(place, mintId(undefined), merger)
  const letGo = () => claims.releaseAll()
  for (let isFirst = true; !claims.take(QUEUE); isFirst = false) {
    if (isFirst) waiting()
    if (isStopped.aborted) {
      letGo()
      return undefined
    }
    await wait(LOOK_AGAIN_MS)
  }
  return letGo
}
