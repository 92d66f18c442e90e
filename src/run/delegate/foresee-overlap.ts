// Who will probably change the same files is told before they do, and not by a conflict.
import { runGit } from '../../git/run-git.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import { repositoryAt, uncommitted } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { Task } from '../../backlog/task.ts'
import { type DelegateState, isUnsettled } from './delegates.ts'
import { KnownPaths, type Touches, overlapOf, touchesOf } from './overlap.ts'
import { changedFiles } from './parent-journal.ts'

const PATHS_SHOWN = 3

interface Wanted {
  readonly what: string
  readonly files: readonly string[]
  readonly task?: Task
}

/** One line for each delegate that has, or will have, files in common with an order. */
export function foreseenOverlaps(
  workspace: Workspace,
  wanted: Wanted,
  others: readonly DelegateState[],
): readonly string[] {
  const beside = others.filter((one) => isUnsettled(one) && !one.order.isReadOnly)
  if (beside.length === 0) return []
  const known = new KnownPaths(
    runGit(repositoryOf(workspace.place).worktree, ['ls-files', '-z']).split('\0').filter(Boolean),
  )
  const own = touchesOf(textOf(wanted.what, wanted.task), known, wanted.files)
  return beside.flatMap((other) => {
    const { how, paths } = overlapOf(own, touchedBy(workspace, other, known))
    if (how === 'none') return []
    return [
      `${other.order.name}, which is ${other.status}, ${how === 'declared' ? 'is to change' : 'may change'} the same files: ${fewOf(paths, PATHS_SHOWN)}; they may conflict when they are merged`,
    ]
  })
}

/** What it was said to change, what its order names, and what it has changed already. */
function touchedBy(workspace: Workspace, state: DelegateState, known: KnownPaths): Touches {
  const { order, run } = state
  const { declared, likely } = touchesOf(textOf(order.what), known, order.files)
  const { tree } = run.started
  const changed = [
    ...changedFiles(workspace, state, { isMerged: false }),
    ...(repositoryAt(tree) === undefined ? [] : uncommitted(tree)),
  ]
  return declared.length > 0
    ? { declared: [...declared, ...changed], likely: [] }
    : { declared, likely: [...likely, ...changed] }
}

function textOf(what: string, task?: Task): Parameters<typeof touchesOf>[0] {
  return {
    title: what,
    description: task?.description ?? '',
    details: task?.details ?? '',
    checklist: task?.checklist ?? [],
    extra: task?.extra ?? '',
  }
}
