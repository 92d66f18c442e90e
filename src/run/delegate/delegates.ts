import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessTag } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { runIds } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import {
  type DelegateStatusChange,
  type DelegateSpec,
  type DelegateStatus,
  type RunEntry,
  type RunEntryData,
  hasNeededFields,
} from '../entries.ts'
import { Claims } from '../loop/claims.ts'
import { thisProcess } from '../loop/start-run.ts'
import { RunLog, readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { isRunningNow } from '../runs.ts'

export interface DelegateState {
  readonly id: string
  readonly order: DelegateSpec
  readonly status: DelegateStatus
  readonly move?: DelegateStatusChange
  readonly since: string
  readonly ready?: DelegateStatusChange
  /** The last failed merge, which it has to fix. */
  readonly openRejection?: DelegateStatusChange
  /** Until it starts it belongs to the process that created it. */
  readonly isStarted: boolean
  readonly rejected: number
  readonly notes: readonly string[]
  /** The merge in progress, or the one whose process died. */
  readonly merge?: RunEntryData['merge.begun'] & {
    readonly landing?: RunEntryData['merge.landing']
  }
  readonly run: RunState
}

/** Undefined for a run that is no delegate; never throws. */
function foldDelegate(id: string, all: readonly RunEntry[]): DelegateState | undefined {
  const run = foldRun(all)
  const order = run?.started.delegate
  if (run === undefined || order === undefined) return undefined
  let status: DelegateStatus = 'running'
  let move: DelegateStatusChange | undefined
  let ready: DelegateStatusChange | undefined
  let openRejection: DelegateStatusChange | undefined
  let merge: DelegateState['merge']
  let since = run.startedAt
  let rejected = 0
  let isStarted = false
  const notes: string[] = []
  for (const entry of all.filter(hasNeededFields)) {
    if (entry.kind === 'run.started' || entry.kind === 'run.resumed') {
      status = 'running'
      merge = undefined
      isStarted ||= entry.kind === 'run.resumed'
    } else if (entry.kind === 'delegate.moved') {
      move = entry.data
      status = move.to
      merge = undefined
      if (status === 'ready') {
        // The same commit again fixes nothing.
        if (move.commit !== ready?.commit) openRejection = undefined
        ready = move
      }
      if (isRejection(move)) {
        rejected += 1
        openRejection = move
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
  const last = defined({ move, ready, openRejection, merge })
  return { id, order, status, since, isStarted, rejected, notes, run, ...last }
}

/** Its work was finished but did not merge. */
export function isRejection({ to, onto }: DelegateStatusChange): boolean {
  return (to === 'conflicted' || to === 'failed') && onto !== undefined
}

export function readDelegates(paths: ProjectPaths): readonly DelegateState[] {
  return runIds(paths).flatMap((id) => foldDelegate(id, readRun(paths, id)) ?? [])
}

export function readDelegate(paths: ProjectPaths, id: string): DelegateState {
  const state = foldDelegate(id, readRun(paths, id))
  if (state !== undefined) return state
  throw new StintError('NO_DELEGATE', `${id} is no delegate`, 'stint delegates lists them')
}

export function findDelegate(paths: ProjectPaths, name: string): DelegateState {
  const all = readDelegates(paths)
  const word = name.trim().toLowerCase()
  const exact = all.filter(({ id, order }) => order.name === word || id === word)
  const isPart = ({ id, order }: DelegateState) => order.name.includes(word) || id.includes(word)
  const found = exact.length > 0 || word === '' ? exact : all.filter(isPart)
  if (found.length === 1) return found[0]!
  const hint = 'stint delegates lists them'
  if (found.length === 0)
    throw new StintError('NO_DELEGATE', `there is no delegate "${name}"`, hint)
  const names = found.map(({ order }) => order.name).join(', ')
  const what = `"${name}" fits ${found.length} delegates: ${names}`
  throw new StintError('DELEGATE_AMBIGUOUS', what, `name it in full; ${hint}`)
}

/** For operations that cannot be undone: accepts only the full name, the id or the short id. */
export function findExactly(paths: ProjectPaths, name: string): DelegateState {
  const found = findDelegate(paths, name)
  const full = [found.order.name, found.id, shortId(found.id)]
  if (full.includes(name.trim().toLowerCase())) return found
  throw new StintError(
    'DELEGATE_INEXACT',
    `"${name}" is only a part of what a delegate is called, which may mean another: it fits ${found.order.name} (${shortId(found.id)})`,
    `say it in full if it is that one: ${found.order.name}`,
  )
}

export function hasLiveProcess({ status, merge, run }: DelegateState): boolean {
  if (status === 'merging') return merge !== undefined && isAlive(merge.merger)
  return status === 'running' && isRunningNow(run)
}

export function isOrphaned(state: DelegateState): boolean {
  return (state.status === 'running' || state.status === 'merging') && !hasLiveProcess(state)
}

/** Orphaned for good: between the end of its run and the record of that, its process still lives. */
export function isLeftBehind(state: DelegateState): boolean {
  const { status, run } = state
  return isOrphaned(state) && (status === 'merging' || !isAlive(run.runner))
}

/** Neither merged nor discarded; a read-only one is done once its report is ready. */
export function isOpenDelegate({ order, status }: DelegateState): boolean {
  return status !== 'merged' && status !== 'discarded' && !(order.isReadOnly && status === 'ready')
}

export async function withRunLog<T>(
  { paths, config }: Workspace,
  id: string,
  use: (log: RunLog) => T | Promise<T>,
): Promise<T> {
  const log = new RunLog(paths, id, config)
  try {
    return await use(log)
  } finally {
    log.close()
  }
}

export const CREATE_CLAIM = 'making a delegate'

/** Held while a delegate is started, reconciled, merged or discarded. */
export function delegateClaim(id: string): string {
  return `taking up ${id}`
}

export const QUEUE_CLAIM = 'merge queue'

export async function withClaim<T>(
  paths: ProjectPaths,
  what: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const claims = newClaims(paths)
  try {
    while (!claims.claim(what)) await sleep(25)
    return await work()
  } finally {
    claims.releaseAll()
  }
}

/** Each call claims under its own id, so that two calls in one process also wait for each other. */
export function newClaims(paths: ProjectPaths, owner = thisProcess()): Claims {
  return new Claims(paths, mintId(undefined), owner)
}

export async function claimQueue(
  paths: ProjectPaths,
  merger: ProcessTag,
  { isStopped, waiting }: { isStopped: AbortSignal; waiting: () => void },
): Promise<(() => void) | undefined> {
  const claims = newClaims(paths, merger)
  for (let isFirst = true; !claims.claim(QUEUE_CLAIM); isFirst = false) {
    if (isFirst) waiting()
    if (isStopped.aborted) {
      claims.releaseAll()
      return undefined
    }
    await sleep(200)
  }
  return () => claims.releaseAll()
}
