// What follows once a delegate's work is on its target, and the recovery after a crash. Each step may be repeated.
import { existsSync } from 'node:fs'
import { tryGit } from '../../git/run-git.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import type { ProcessTag } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import {
  type DelegateState,
  QUEUE_CLAIM,
  readDelegates,
  readDelegate,
  withClaim,
  isOrphaned,
  isSameProcess,
  newClaims,
  delegateClaim,
  withRunLog,
} from '../delegate/delegates.ts'
import {
  countCommitsBeyond,
  containsCommit,
  hasCommit,
  saveProvedRef,
  saveOrphanedCommits,
  deleteProvedRef,
} from '../delegate/delegate-commits.ts'
import { mergeJournals, reportMissedToParent } from '../delegate/parent-journal.ts'
import { recordDelegateEnd } from '../delegate/start-delegate.ts'
import type { DelegateMove } from '../entries.ts'
import { endOrphanedProcesses } from '../loop/resume.ts'
import { thisProcess } from '../loop/start-run.ts'
import type { RunLog } from '../run-log.ts'
import { removeTreeIfClean } from '../worktree/remove-worktree.ts'
import { type MergeStep, boundedReason } from './merge-context.ts'
import { checkoutsOf, integrationTree, removeIntegrationTree, targetTip } from './target-branch.ts'

interface Landing {
  readonly target: string
  readonly commit: string
  readonly tip: string
}

export function mergeRef(delegate: string): string {
  return `refs/stint/runs/${delegate}/merge`
}

/** Nothing was merged: it is ready for the next merge, with the commit saved. */
export function recordReadyAgain(
  paths: ProjectPaths,
  log: RunLog,
  state: DelegateState,
  move: Pick<DelegateMove, 'because' | 'commit' | 'pr'>,
): void {
  saveProvedRef(paths, state.id, move.commit)
  log.append('delegate.moved', { ...state.ready, to: 'ready', ...move })
}

/** After a crash the target branch itself shows whether a merge landed. */
export function isOnTarget(
  paths: ProjectPaths,
  { target, to }: { target: string; to: string },
): boolean {
  const now = targetTip(paths, target)
  return now !== undefined && hasCommit(paths, to) && containsCommit(paths, now, to)
}

export async function finishMerge(
  context: {
    workspace: Workspace
    say: (text: string) => void
    at: (step: MergeStep) => Promise<void>
  },
  log: RunLog,
  state: DelegateState,
  landing: Landing,
): Promise<void> {
  const { workspace, say, at } = context
  const { target, commit, tip } = landing
  const summary = state.ready?.summary
  await mergeJournals(workspace, state, { commit, target })
  await at('journals merged')
  const commits = countCommitsBeyond(workspace.paths, state.run.started.base, [tip])
  const move = { to: 'merged', commit, target, commits, ...defined({ summary }) } as const
  log.append('delegate.moved', move)
  await at('merged')
  try {
    cleanUpMerged(workspace, state, landing, say)
  } catch (error) {
    // It is merged even if the cleanup failed.
    if (!(error instanceof StintError)) throw error
    say(
      `${state.order.name} is merged, but not all that it leaves could be put away: ${boundedReason(error)}`,
    )
  }
}

/** Removes worktree and branch of a merged delegate, but nothing the target lacks or that is in use. */
export function cleanUpMerged(
  { paths }: Workspace,
  state: DelegateState,
  { target, tip }: Omit<Landing, 'commit'>,
  say: (text: string) => void,
): void {
  const { branch, isInPlace, options, tree } = state.run.started
  removeIntegrationTree(paths, integrationTree(paths, state.id))
  const now = targetTip(paths, target)
  if (now === undefined || !containsCommit(paths, now, tip)) return
  // Fails silently for what was moved or locked meanwhile.
  const quietly = (...args: readonly string[]) =>
    tryGit(requireRepository(paths).commonDir, [...SAFE_CONFIG, ...args])
  quietly('update-ref', '-d', mergeRef(state.id))
  deleteProvedRef(paths, state.id, now)
  // A branch that the user named belongs to the user.
  if (isInPlace || branch === target || options.branch !== undefined) return
  saveOrphanedCommits(paths, state, say)
  if (existsSync(tree)) removeTreeIfClean(paths, state.run.started, say)
  else quietly('worktree', 'remove', '--force', tree)
  const at = targetTip(paths, branch)
  if (at === undefined) return
  if (at !== tip && !containsCommit(paths, now, at))
    return say(`${branch} is left: it has gone on from what was merged`)
  // Its worktree stays when it holds uncommitted files.
  if (checkoutsOf(paths, branch).length === 0)
    quietly('update-ref', '-d', `refs/heads/${branch}`, at)
}

/** Corrects the status of an orphaned delegate and commits what its process left. Any other is returned unchanged. */
export async function reconcileDelegate(
  workspace: Workspace,
  state: DelegateState,
): Promise<DelegateState> {
  if (!isOrphaned(state)) return state
  if (state.status === 'merging') return recoverMerge(workspace, state)
  return withClaim(workspace.paths, delegateClaim(state.id), async () => {
    const now = readDelegate(workspace.paths, state.id)
    // Another process may have started or reconciled it meanwhile.
    if (!isOrphaned(now) || now.status === 'merging') return now
    await endOrphanedProcesses(now.run)
    const { ended } = now.run
    const why = now.isBegun ? 'its process ended in the middle of it' : 'it was never begun'
    return recordDelegateEnd(
      workspace,
      now.id,
      ended ?? 'interrupted',
      ended === undefined ? why : undefined,
    )
  })
}

export async function reconcileDelegates(workspace: Workspace): Promise<readonly DelegateState[]> {
  const states: DelegateState[] = []
  for (const state of readDelegates(workspace.paths)) {
    try {
      states.push(await reconcileDelegate(workspace, state))
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      workspace.say(`${state.order.name} cannot be settled now: ${error.message}`)
      states.push(readDelegate(workspace.paths, state.id))
    }
  }
  await reportMissedToParent(workspace, states)
  return states
}

export async function recoverMerge(
  workspace: Workspace,
  { id }: DelegateState,
): Promise<DelegateState> {
  const { paths } = workspace
  const merger = thisProcess()
  const claims = newClaims(paths, merger)
  try {
    // If another process holds the queue, that one recovers it.
    return claims.claim(QUEUE_CLAIM)
      ? await recoverMergeInQueue(workspace, id, merger)
      : readDelegate(paths, id)
  } finally {
    claims.releaseAll()
  }
}

export async function recoverMergeInQueue(
  workspace: Workspace,
  id: string,
  merger: ProcessTag,
): Promise<DelegateState> {
  const { paths } = workspace
  const state = readDelegate(paths, id)
  const { merge } = state
  if (state.status !== 'merging' || merge === undefined) return state
  // Only the holder of the queue merges, so an earlier merge of this process has failed.
  if (!isSameProcess(merge.merger, merger) && isAlive(merge.merger)) return state
  await withRunLog(workspace, id, async (log) => {
    removeIntegrationTree(paths, integrationTree(paths, id))
    const { landing, tip } = merge
    if (landing === undefined || !isOnTarget(paths, landing))
      return recordReadyAgain(paths, log, state, { because: 'the merge was cut off', commit: tip })
    const say = (text: string) => workspace.say(text)
    const { target, to: commit } = landing
    await finishMerge({ workspace, say, at: async () => {} }, log, state, { target, commit, tip })
  })
  return readDelegate(paths, id)
}
