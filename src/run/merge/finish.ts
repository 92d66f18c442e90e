// What follows when a delegate's work is on its target. Each step may be made again, after a crash in the middle.
import { existsSync } from 'node:fs'
import { QUIETLY } from '../../git/working-tree.ts'
import { tryGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { RunLog } from '../run-log.ts'
import { removeIfClean } from '../worktree/remove-if-clean.ts'
import {
  commitsBeyond,
  contains,
  hasCommit,
  keepProved,
  keepStrayCommits,
  letGoOfProved,
} from '../delegate/kept-commits.ts'
import {
  type DelegateState,
  QUEUE,
  allDelegates,
  delegateNow,
  inTurn,
  isOrphaned,
  isSameProcess,
  takingUp,
} from '../delegate/delegates.ts'
import { mergeJournals, tellMissed } from '../delegate/parent-journal.ts'
import { checkoutsOf, integrationTree, removeIntegrationTree, targetNow } from './target.ts'
import { type MergeStep, reasonOf } from './outcomes.ts'
import type { DelegateMove } from '../entries.ts'
import { defined } from '../../text/defined.ts'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { mintId } from '../../journal/ids.ts'
import { moveOn } from '../delegate/work-delegate.ts'
import { Claims } from '../loop/claims.ts'
import { endLeftovers } from '../loop/resume.ts'
import { thisProcess } from '../loop/start-run.ts'

export interface Landing {
  readonly target: string
  /** What the target was moved to. */
  readonly commit: string
  /** The delegate's own last commit. */
  readonly tip: string
}

interface Finishing {
  readonly workspace: Workspace
  readonly say: (text: string) => void
  readonly at: (step: MergeStep) => Promise<void>
}

/** The name under which a merge is kept until the target has it. */
export function keptMerge(delegate: string): string {
  return `refs/stint/runs/${delegate}/merge`
}

/** Nothing of it was merged: it waits for the next time, with the commit to merge kept. */
export function readyAgain(
  place: Place,
  log: RunLog,
  state: DelegateState,
  move: Pick<DelegateMove, 'because' | 'commit' | 'pr'>,
): void {
  keepProved(place, state.id, move.commit)
  log.append('delegate.moved', { ...state.ready, to: 'ready', ...move })
}

/** After a crash the target branch itself says whether a merge landed. */
export function isOnTarget(
  place: Place,
  { target, to }: { readonly target: string; readonly to: string },
): boolean {
  const now = targetNow(place, target)
  return now !== undefined && hasCommit(place, to) && contains(place, now, to)
}

export async function finish(
  { workspace, say, at }: Finishing,
  log: RunLog,
  state: DelegateState,
  landing: Landing,
): Promise<void> {
  const { target, commit, tip } = landing
  const summary = state.ready?.summary
  await mergeJournals(workspace, state, { commit, target })
  await at('journals merged')
  const commits = commitsBeyond(workspace.place, state.run.started.base, [tip])
  log.append('delegate.moved', {
    to: 'merged',
    commit,
    target,
    commits,
    ...defined({ summary }),
  })
  await at('merged')
  try {
    tidy(workspace, state, landing, say)
  } catch (error) {
    // It is merged all the same.
    if (!(error instanceof StintError)) throw error
    say(
      `${state.order.name} is merged, but not all that it leaves could be put away: ${reasonOf(error)}`,
    )
  }
}

/** Takes away what a merged delegate needs no more. What is not in the target stays, and so does what somebody uses. */
export function tidy(
  { place }: Workspace,
  state: DelegateState,
  { target, tip }: Omit<Landing, 'commit'>,
  say: (text: string) => void,
): void {
  const { branch, isInPlace, options, tree } = state.run.started
  removeIntegrationTree(place, integrationTree(place, state.id))
  const now = targetNow(place, target)
  if (now === undefined || !contains(place, now, tip)) return
  deleteReference(keptMerge(state.id))
  letGoOfProved(place, state.id, now)
  // A branch that was named by a person is that person's.
  if (isInPlace || branch === target || options.branch !== undefined) return
  keepStrayCommits(place, state, say)
  if (existsSync(tree)) removeIfClean(place, state.run.started, say)
  else quietly('worktree', 'remove', '--force', tree)
  const at = targetNow(place, branch)
  if (at === undefined) return
  if (at !== tip && !contains(place, now, at))
    return say(`${branch} is left: it has gone on from what was merged`)
  // Its own worktree is left when it holds what is in no commit.
  if (checkoutsOf(place, branch).length === 0) deleteReference(`refs/heads/${branch}`, at)

  function deleteReference(name: string, expected?: string): void {
    quietly('update-ref', '-d', name, ...(expected === undefined ? [] : [expected]))
  }

  /** What somebody has moved or locked in between stays. */
  function quietly(...args: readonly string[]): void {
    tryGit(repositoryOf(place).commonDir, [...QUIETLY, ...args])
  }
}

// A delegate whose process is gone is not left as if it were at work: what it had done is committed, and it is said.

/** Brings a delegate that nobody runs or merges any more to where it really stands. Any other is answered as it is. */
export async function reconcile(
  workspace: Workspace,
  state: DelegateState,
): Promise<DelegateState> {
  if (!isOrphaned(state)) return state
  if (state.status === 'merging') return recoverMerge(workspace, state)
  return inTurn(workspace.place, takingUp(state.id), async () => {
    const now = delegateNow(workspace.place, state.id)
    // Somebody has begun it again meanwhile, or settled it.
    if (!isOrphaned(now) || now.status === 'merging') return now
    await endLeftovers(now.run)
    const { ended } = now.run
    return moveOn(
      workspace,
      now.id,
      ended ?? 'interrupted',
      ended === undefined ? whyOrphaned(now) : undefined,
    )
  })
}

function whyOrphaned({ isBegun }: DelegateState): string {
  return isBegun ? 'its process ended in the middle of it' : 'it was never begun'
}

/** All delegates, each where it really stands. What cannot be settled now is said, and left for the next time. */
export async function reconcileAll(workspace: Workspace): Promise<readonly DelegateState[]> {
  const settled: DelegateState[] = []
  for (const state of allDelegates(workspace.place)) {
    try {
      settled.push(await reconcile(workspace, state))
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      workspace.say(`${state.order.name} cannot be settled now: ${error.message}`)
      settled.push(delegateNow(workspace.place, state.id))
    }
  }
  await tellMissed(workspace, settled)
  return settled
}

/** Brings a merge that nobody goes on with to an end: merged, or ready again. Answers the delegate as it is then. */
export async function recoverMerge(
  workspace: Workspace,
  { id }: DelegateState,
): Promise<DelegateState> {
  const { place } = workspace
  const merger = thisProcess()
  const claims = new Claims(place, mintId(undefined), merger)
  try {
    // Whoever has the queue recovers it as well.
    return claims.take(QUEUE)
      ? await recoverWithQueue(workspace, id, merger)
      : delegateNow(place, id)
  } finally {
    claims.releaseAll()
  }
}

/** The same for who has the queue already. */
export async function recoverWithQueue(
  workspace: Workspace,
  id: string,
  merger: ProcessMark,
): Promise<DelegateState> {
  const { place } = workspace
  const state = delegateNow(place, id)
  const { merge } = state
  if (state.status !== 'merging' || merge === undefined || isMergedByAnother(merge.merger, merger))
    return state
  const log = new RunLog(place, id, workspace.config)
  try {
    removeIntegrationTree(place, integrationTree(place, id))
    const { landing, tip } = merge
    if (landing === undefined || !isOnTarget(place, landing))
      readyAgain(place, log, state, { because: 'the merge was cut off', commit: tip })
    else {
      const finishing = {
        workspace,
        say: (text: string) => workspace.say(text),
        at: async () => {},
      }
      await finish(finishing, log, state, { target: landing.target, commit: landing.to, tip })
    }
  } finally {
    log.close()
  }
  return delegateNow(place, id)
}

/** Nobody else of this process merges, as it has the queue; what it began before has failed. */
function isMergedByAnother(other: ProcessMark, merger: ProcessMark): boolean {
  return !isSameProcess(other, merger) && isAlive(other)
}
