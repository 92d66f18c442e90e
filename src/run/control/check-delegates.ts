// What delegates left: processes, worktrees, work that waits for somebody. It is said with what to do about it, and left alone.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { isAlive } from '../../harness/process/strays.ts'
import { shortId } from '../../journal/ids.ts'
import { type Check, Findings, plural } from '../../project/doctor/report.ts'
import type { Place } from '../../project/store/place.ts'
import {
  type DelegateState,
  allDelegates,
  isOrphaned,
  isAttended,
  isUnsettled,
} from '../delegate/delegates.ts'
import { describeTree, inShell, treesInState } from '../loop/check-runs.ts'
import { isOfDeadTry } from '../merge/target.ts'
import { headNow } from '../worktree/tree.ts'

export function checkDelegates(place: Place): readonly Check[] {
  const all = allDelegates(place)
  const findings = new Findings('delegates')
  for (const state of all)
    for (const finding of aboutOne(place, state)) findings[finding.how](finding.text)
  for (const text of leftTrees(place, all)) findings.note(text)
  const going = all.filter(isAttended).length
  const waiting = all.filter((state) => isUnsettled(state) && !isAttended(state)).length
  const ok = [
    going === 0 ? 'none is at work' : `${going} at work`,
    ...(waiting === 0 ? [] : [`${waiting} to be merged or discarded`]),
  ]
  return [findings.check(ok.join(', '), (count) => plural(count, 'remark'))]
}

function aboutOne(
  place: Place,
  state: DelegateState,
): readonly { how: 'note' | 'problem'; text: string }[] {
  const { order, run, status } = state
  const { name } = order
  const { base, tree } = run.started
  const left = isAttended(state)
    ? []
    : run.conversations.map(({ opened }) => opened.process).filter(isAlive)
  return [
    ...(isOrphaned(state)
      ? [
          {
            how: 'note' as const,
            text: `${name}: nobody is ${status === 'merging' ? 'merging' : 'working on'} it any more; stint delegates settles it`,
          },
        ]
      : []),
    ...left.map(({ pid }) => ({
      how: 'problem' as const,
      text: `${name}: process ${pid} of its agent is still there; stint delegate stop ${name} ends it`,
    })),
    ...(!isUnsettled(state) && existsSync(tree)
      ? [
          {
            how: 'note' as const,
            text: `${tree} of ${name}, which is ${status}: ${describeTree(place, tree, base)}`,
          },
        ]
      : []),
  ]
}

/** Of makers and merges that were killed. What is being made or merged now is left out. */
function leftTrees(place: Place, all: readonly DelegateState[]): readonly string[] {
  const known = new Set(all.map(({ run }) => run.started.tree))
  const merging = new Set(
    all
      .filter((state) => state.status === 'merging' && isAttended(state))
      .map(({ id }) => shortId(id)),
  )
  return treesInState(place).flatMap((tree) => {
    const [, kind, short = ''] = /^(delegate|merge|try)-([0-9a-f]{6})/.exec(basename(tree)) ?? []
    if (kind === 'delegate' && !known.has(tree)) return [neverBegun(place, tree)]
    const isLeft =
      kind === 'merge' ? !merging.has(short) : kind === 'try' && isOfDeadTry(basename(tree))
    if (!isLeft) return []
    const what = kind === 'merge' ? 'a merge' : 'a merge that was only tried'
    return [
      `${tree} was left by ${what}: nobody needs it; take it away with: git worktree remove --force ${inShell(tree)}`,
    ]
  })
}

function neverBegun(place: Place, tree: string): string {
  const branch = headNow(tree)?.branch
  const more =
    branch === undefined
      ? ''
      : `, then the branch, if nothing is on it: git branch -d ${inShell(branch)}`
  return `${tree} was made for a delegate that was never begun: ${describeTree(place, tree)}${more}`
}
