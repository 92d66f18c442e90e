import { setTimeout as sleep } from 'node:timers/promises'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { refuseToBegin, startInBackground, tellDelegate } from '../delegate/work-delegate.ts'
import {
  type DelegateDetail,
  type DelegateRequest,
  type DelegateRow,
  type MergeOptions,
  detailOf,
  rowOf,
} from '../delegate/delegate-row.ts'
import { createDelegate } from '../delegate/create-delegate.ts'
import {
  type DelegateState,
  delegateNow,
  findDelegate,
  findExactly,
  isUnsettled,
} from '../delegate/delegates.ts'
import { mergeDelegates } from '../merge/queue.ts'
import { reconcile, reconcileAll } from '../merge/finish.ts'
import { discardDelegate, stopDelegate } from './end-delegate.ts'
import type { MergeEvent, MergeOutcome } from '../events.ts'

export interface WaitOptions {
  readonly group?: string
  readonly isStopped?: AbortSignal
  /** Called whenever the status of one of them changes. */
  readonly tell?: (row: DelegateRow) => void
}

export interface QueueOptions extends Omit<MergeOptions, 'sendBack'> {
  /** A delegate whose work conflicts or is red starts again by itself, which is the default. */
  readonly isSentBack?: boolean
}

const POLL_MS = 300

/** Creates a delegate and starts it in the background. */
export async function start(workspace: Workspace, request: DelegateRequest): Promise<DelegateRow> {
  const { id } = await createDelegate(workspace, request)
  await startInBackground(workspace, id)
  return rowNow(workspace, id)
}

/** All delegates, the oldest first. */
export async function list(workspace: Workspace): Promise<readonly DelegateRow[]> {
  return (await reconcileAll(workspace)).map((state) => rowOf(workspace, state))
}

/** Everything that is known of one. */
export async function show(workspace: Workspace, name: string): Promise<DelegateDetail> {
  const state = await reconcile(workspace, findDelegate(workspace.place, name))
  return detailOf(workspace, state, rowOf(workspace, state))
}

/** Waits until none of them is at work; without names, of all. */
export async function wait(
  workspace: Workspace,
  names: readonly string[] = [],
  { group, isStopped, tell = () => {} }: WaitOptions = {},
): Promise<readonly DelegateRow[]> {
  const ids = (await namedOr(workspace, names, isAtWork))
    .filter(({ order }) => group === undefined || order.group === group)
    .map(({ id }) => id)
  const told = new Map<string, string>()
  for (;;) {
    const rows = await Promise.all(ids.map((id) => rowNow(workspace, id)))
    for (const row of rows) {
      if (told.get(row.id) !== row.status) tell(row)
      told.set(row.id, row.status)
    }
    if (rows.every((row) => !isAtWork(row)) || isStopped?.aborted === true) return rows
    await sleep(POLL_MS, undefined, isStopped === undefined ? {} : { signal: isStopped }).catch(
      () => undefined,
    )
  }
}

/** Ends them and everything they started; without names, all. Their work stays. */
export async function stop(
  workspace: Workspace,
  names: readonly string[] = [],
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'stopping a delegate')
  const chosen = await namedOr(workspace, names, isAtWork)
  return each(workspace, chosen, (state) => stopDelegate(workspace, state))
}

/** Starts them again, with what is to be fixed and what is noted; without names, all that failed, conflict or are parked. */
export async function retry(
  workspace: Workspace,
  names: readonly string[] = [],
  { note }: { readonly note?: string } = {},
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'beginning a delegate again')
  const isStuck = ({ status }: DelegateState) =>
    status === 'failed' || status === 'conflicted' || status === 'parked'
  const chosen = await namedOr(workspace, names, isStuck)
  chosen.forEach(refuseToBegin)
  return each(workspace, chosen, async ({ id }) => {
    if (note !== undefined) tellDelegate(workspace, id, note)
    await startInBackground(workspace, id)
  })
}

/** Gives them up, by whole names; without any, all that are not merged. */
export async function discard(
  workspace: Workspace,
  names: readonly string[] = [],
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'discarding a delegate')
  for (const name of names) findExactly(workspace.place, name)
  const chosen = await namedOr(workspace, names, isUnsettled)
  return each(workspace, chosen, (state) => discardDelegate(workspace, state))
}

/** Merges them one after another, each into its target branch; `all` are those that are ready. */
export async function merge(
  workspace: Workspace,
  names: readonly string[] | 'all',
  { isSentBack = true, ...options }: QueueOptions = {},
  tell: (event: MergeEvent) => void = () => {},
): Promise<readonly MergeOutcome[]> {
  refuseInRun(workspace, 'merging')
  const isReady = ({ status, order }: DelegateState) => status === 'ready' && !order.isReadOnly
  const chosen =
    names === 'all' ? await namedOr(workspace, [], isReady) : await named(workspace, names)
  const sendBack = (id: string) => startInBackground(workspace, id)
  const ids = chosen.map(({ id }) => id)
  return mergeDelegates(workspace, ids, { ...options, ...(isSentBack ? { sendBack } : {}) }, tell)
}

function isAtWork({ status }: { readonly status: string }): boolean {
  return status === 'running' || status === 'merging'
}

/** Those named, each once; without names, all of a kind. */
async function namedOr(
  workspace: Workspace,
  names: readonly string[],
  isMeant: (state: DelegateState) => boolean,
): Promise<readonly DelegateState[]> {
  if (names.length > 0) return named(workspace, names)
  return (await reconcileAll(workspace)).filter(isMeant)
}

function named(workspace: Workspace, names: readonly string[]): Promise<readonly DelegateState[]> {
  const found = names.map((name) => findDelegate(workspace.place, name))
  const once = new Map(found.map((state) => [state.id, state]))
  return Promise.all([...once.values()].map((state) => reconcile(workspace, state)))
}

async function rowNow(workspace: Workspace, id: string): Promise<DelegateRow> {
  return rowOf(workspace, await reconcile(workspace, delegateNow(workspace.place, id)))
}

/** Does it to each, whatever became of the others; the first failure is thrown when all have had their turn. */
async function each(
  workspace: Workspace,
  chosen: readonly DelegateState[],
  work: (state: DelegateState) => Promise<unknown>,
): Promise<readonly DelegateRow[]> {
  const failures: unknown[] = []
  for (const state of chosen) {
    try {
      await work(state)
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return Promise.all(chosen.map(({ id }) => rowNow(workspace, id)))
}
