import { runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { commitAsFound } from '../worktree/commit-uncommitted.ts'
import { fewOf, inNoCommit } from '../worktree/remove-if-clean.ts'
import { RunLog } from '../run-log.ts'
import { commitOf, repositoryAt } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { commitsBeyond } from './commits-beyond.ts'
import type { DelegateState } from './delegate-state.ts'
import { delegateNow, isAttended } from './delegates.ts'
import { inTurn, takingUp } from './in-turn.ts'
import { letGoOfProved, provedInstead } from './proved-commit.ts'
import { removeTree } from './remove-tree.ts'
import { tellParent } from './result/tell-parent.ts'
import { stopDelegate } from './stop-delegate.ts'
import { keepStrayCommits } from './stray-commits.ts'

/**
 * Gives a delegate up. Its worktree and branch go away; its commits, and what it had not committed, stay under `refs/stint/`.
 * What can be in no commit is not taken away: then worktree and branch stay, and it is said.
 */
export async function discardDelegate(
  workspace: Workspace,
  given: DelegateState,
  because?: string,
): Promise<DelegateState> {
  const { place } = workspace
  const state = await stopDelegate(workspace, given)
  const { id } = state
  const now = await inTurn(place, takingUp(id), () =>
    giveUp(workspace, delegateNow(place, id), because),
  )
  await tellParent(workspace, now)
  return now
}

function giveUp(
  workspace: Workspace,
  state: DelegateState,
  because: string | undefined,
): DelegateState {
  const { place, config } = workspace
  const { id, order, run, status } = state
  if (status === 'discarded') return state
  if (status === 'merged') {
    throw new StintError(
      'DELEGATE_MERGED',
      `${order.name} is merged into ${order.target}`,
      `git revert -m 1 ${state.move?.commit?.slice(0, 10) ?? 'COMMIT'} takes it back`,
    )
  }
  if (isAttended(state) && status !== 'merging') {
    throw new StintError(
      'DELEGATE_BUSY',
      `${order.name} was just begun again`,
      `stint delegate discard ${order.name} once more`,
    )
  }
  if (status === 'merging')
    throw new StintError(
      'DELEGATE_BUSY',
      `${order.name} is being merged`,
      'wait for the merge to end',
    )
  const { base, branch, tree } = run.started
  const { mainRoot } = repositoryOf(place)
  const found = commitAsFound(place, id, { tree, branch, base, isInPlace: false })
  const left = repositoryAt(tree) === undefined ? [] : inNoCommit(tree)
  const why = [
    ...(because === undefined ? [] : [because]),
    ...(left.length === 0 ? [] : [leftWords(tree, left)]),
  ]
  const tip = commitOf(mainRoot, branch)
  const kept = `refs/stint/runs/${id}/discarded`
  // First kept, then said, then taken away: whoever is killed in between has lost nothing.
  const work = provedInstead(place, { tip, base, proved: state.ready?.commit }) ?? tip
  const hasWork = work !== undefined && work !== base
  if (hasWork) {
    runGit(mainRoot, [...QUIETLY, 'update-ref', '-m', 'stint: keep what is discarded', kept, work])
    letGoOfProved(place, id, work)
  }
  keepStrayCommits(place, state, (text) => workspace.say(text))
  const log = new RunLog(place, id, config)
  log.append('delegate.moved', {
    to: 'discarded',
    commits: commitsBeyond(place, base, [work]),
    ...(why.length === 0 ? {} : { because: why.join('; ') }),
    ...(left.length === 0 ? {} : { left }),
    ...(hasWork ? { kept, commit: work } : found.kept === undefined ? {} : { kept: found.kept }),
  })
  log.close()
  if (left.length === 0) removeTree(place, run.started, tip)
  else workspace.say(`${order.name}: ${leftWords(tree, left)}`)
  return delegateNow(place, id)
}

function leftWords(tree: string, left: readonly string[]): string {
  return `its worktree ${tree} is left, as it holds what is in no commit: ${fewOf(left)}`
}
