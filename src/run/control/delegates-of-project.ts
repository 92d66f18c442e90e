import { setTimeout as sleep } from 'node:timers/promises'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type {
  DelegateRequest,
  DelegateRow,
  MergeEvent,
  MergeOptions,
  MergeOutcome,
} from '../delegate/contract.ts'
import type { DelegateDetail } from '../delegate/delegate-row.ts'
import type { DelegateState } from '../delegate/delegates.ts'

export type Delegates = ReturnType<typeof delegatesOf>

export interface WaitOptions {
  readonly group?: string
  readonly isStopped?: AbortSignal
  /** Told whenever one of them has come to stand elsewhere. */
  readonly tell?: (row: DelegateRow) => void
}

export interface QueueOptions extends Omit<MergeOptions, 'sendBack'> {
  /** What conflicts or is red is begun again by itself, which is the usual. */
  readonly isSentBack?: boolean
}

const LOOK_MS = 300

/** What can be done with the delegates of a project. Rarely needed, so each part is loaded when it is asked for. */
export function delegatesOf(workspace: Workspace) {
  return {
    /** Makes a delegate and starts it in the background. */
    async start(request: DelegateRequest): Promise<DelegateRow> {
      const { createDelegate } = await import('../delegate/create-delegate.ts')
      const { startInBackground } = await import('../delegate/background.ts')
      const { id } = await createDelegate(workspace, request)
      await startInBackground(workspace, id)
      return rowNow(workspace, id)
    },
    /** All there are, each where it really stands, the oldest first. */
    async list(): Promise<readonly DelegateRow[]> {
      const { rowOf } = await import('../delegate/delegate-row.ts')
      return (await settled(workspace)).map((state) => rowOf(workspace, state))
    },
    /** Everything that is known of one. */
    async show(name: string): Promise<DelegateDetail> {
      const { rowOf } = await import('../delegate/delegate-row.ts')
      const { detailOf } = await import('../delegate/delegate-row.ts')
      const [state] = await named(workspace, [name])
      return detailOf(workspace, state!, rowOf(workspace, state!))
    },
    /** Waits until none of them is at work; without names, of all. */
    async wait(
      names: readonly string[] = [],
      { group, isStopped, tell = () => {} }: WaitOptions = {},
    ): Promise<readonly DelegateRow[]> {
      const chosen =
        names.length > 0
          ? await named(workspace, names)
          : (await settled(workspace)).filter(isAtWork)
      const ids = chosen
        .filter(({ order }) => group === undefined || order.group === group)
        .map(({ id }) => id)
      const told = new Map<string, string>()
      for (;;) {
        const rows = await Promise.all(ids.map(async (id) => rowNow(workspace, id)))
        for (const row of rows) {
          if (told.get(row.id) !== row.status) tell(row)
          told.set(row.id, row.status)
        }
        if (rows.every((row) => !isAtWork(row)) || isStopped?.aborted === true) return rows
        await sleep(LOOK_MS, undefined, isStopped === undefined ? {} : { signal: isStopped }).catch(
          () => undefined,
        )
      }
    },
    /** Ends them and everything they started; without names, all. Their work stays. */
    async stop(names: readonly string[] = []): Promise<readonly DelegateRow[]> {
      refuseInRun(workspace, 'stopping a delegate')
      const { stopDelegate } = await import('./end-delegate.ts')
      const chosen =
        names.length > 0
          ? await named(workspace, names)
          : (await settled(workspace)).filter(isAtWork)
      return each(workspace, chosen, (state) => stopDelegate(workspace, state))
    },
    /** Begins them again, with what is to be mended and what is noted; without names, all that failed or are in conflict. */
    async retry(
      names: readonly string[] = [],
      { note }: { readonly note?: string } = {},
    ): Promise<readonly DelegateRow[]> {
      refuseInRun(workspace, 'beginning a delegate again')
      const { startInBackground } = await import('../delegate/background.ts')
      const { refuseToBegin, tellDelegate } = await import('../delegate/work-delegate.ts')
      const isStuck = ({ status }: DelegateState) =>
        status === 'failed' || status === 'conflicted' || status === 'parked'
      const chosen =
        names.length > 0
          ? await named(workspace, names)
          : (await settled(workspace)).filter(isStuck)
      chosen.forEach(refuseToBegin)
      return each(workspace, chosen, async ({ id }) => {
        if (note !== undefined) tellDelegate(workspace, id, note)
        await startInBackground(workspace, id)
      })
    },
    /** Gives them up, by whole names; without any, all that are not merged. */
    async discard(names: readonly string[] = []): Promise<readonly DelegateRow[]> {
      refuseInRun(workspace, 'discarding a delegate')
      const { discardDelegate } = await import('./end-delegate.ts')
      const { findExactly, isUnsettled } = await import('../delegate/delegates.ts')
      for (const name of names) findExactly(workspace.place, name)
      const chosen =
        names.length > 0
          ? await named(workspace, names)
          : (await settled(workspace)).filter(isUnsettled)
      return each(workspace, chosen, (state) => discardDelegate(workspace, state))
    },
    /** Merges them one after another, each into its target; `all` are those that are ready. */
    async merge(
      names: readonly string[] | 'all',
      { isSentBack = true, ...options }: QueueOptions = {},
      tell: (event: MergeEvent) => void = () => {},
    ): Promise<readonly MergeOutcome[]> {
      refuseInRun(workspace, 'merging')
      const { mergeDelegates } = await import('../merge/queue.ts')
      const { startInBackground } = await import('../delegate/background.ts')
      const isReady = ({ status, order }: DelegateState) => status === 'ready' && !order.isReadOnly
      const chosen =
        names === 'all' ? (await settled(workspace)).filter(isReady) : await named(workspace, names)
      const sendBack = (id: string) => startInBackground(workspace, id)
      return mergeDelegates(
        workspace,
        chosen.map(({ id }) => id),
        { ...options, ...(isSentBack ? { sendBack } : {}) },
        tell,
      )
    },
  }
}

function isAtWork({ status }: { readonly status: string }): boolean {
  return status === 'running' || status === 'merging'
}

async function settled(workspace: Workspace): Promise<readonly DelegateState[]> {
  const { settledDelegates } = await import('../merge/reconcile.ts')
  return settledDelegates(workspace)
}

/** Each once, where it really stands. */
async function named(
  workspace: Workspace,
  names: readonly string[],
): Promise<readonly DelegateState[]> {
  const { findDelegate } = await import('../delegate/delegates.ts')
  const { settleDead } = await import('../merge/reconcile.ts')
  const found = new Map(
    names.map((name) => findDelegate(workspace.place, name)).map((state) => [state.id, state]),
  )
  return Promise.all([...found.values()].map((state) => settleDead(workspace, state)))
}

async function rowNow(workspace: Workspace, id: string): Promise<DelegateRow> {
  const { delegateNow } = await import('../delegate/delegates.ts')
  const { rowOf } = await import('../delegate/delegate-row.ts')
  const { settleDead } = await import('../merge/reconcile.ts')
  return rowOf(workspace, await settleDead(workspace, delegateNow(workspace.place, id)))
}

/** Does it to each, whatever became of the others; the first failure is told when all have had their turn. */
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
