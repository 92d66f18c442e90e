import type { Workspace } from '../../project/store/workspace.ts'
import { addSpent } from '../run-state.ts'
import { spendOf } from '../spend.ts'
import { commitsBeyond } from './commits-beyond.ts'
import type { DelegateRow } from './contract.ts'
import type { DelegateState } from './delegate-state.ts'
import { isAdrift, isAttended, isUnsettled } from './delegates.ts'

/** A delegate as it is listed. */
export function rowOf({ place, config }: Workspace, state: DelegateState): DelegateRow {
  const { id, move, order, ready, run, since, status } = state
  const { base, branch, harness, tree } = run.started
  const spent = run.attempts.reduce((sum, attempt) => addSpent(sum, attempt.spent), {})
  const { as, group, isReadOnly, name, parent, target, task, what } = order
  const next = nextCommand(state)
  const known = {
    as,
    group,
    task,
    parent,
    run: order.run,
    summary: move?.summary ?? ready?.summary,
    because: status === 'running' ? undefined : move?.because,
    waitsUntil:
      isAttended(state) && status === 'running' && isAhead(run.waitsUntil)
        ? run.waitsUntil
        : undefined,
    report: ready?.report,
    kept: move?.kept,
    left: status === 'running' ? undefined : move?.left,
    pr: move?.pr ?? ready?.pr,
    next,
  }
  return {
    id,
    name,
    status,
    isAdrift: isAdrift(state),
    what,
    harness,
    branch,
    tree,
    target,
    isReadOnly,
    startedAt: run.startedAt,
    since,
    seconds:
      isAttended(state) && status === 'running'
        ? (Date.now() - Date.parse(since)) / 1000
        : run.seconds,
    spend: spendOf(spent, config.prices),
    // Of one that is settled the log knows it. There may be hundreds of them, and git is a process each time.
    commits:
      (isUnsettled(state) ? undefined : move?.commits) ??
      commitsBeyond(place, base, [`refs/heads/${branch}`, ready?.commit, move?.kept]),
    ...(Object.fromEntries(
      Object.entries(known).filter(([, value]) => value !== undefined),
    ) as Partial<DelegateRow>),
  }
}

/** Nobody writes down that a wait is over. */
function isAhead(moment: string | undefined): boolean {
  return moment !== undefined && Date.parse(moment) > Date.now()
}

function nextCommand(state: DelegateState): string | undefined {
  const { order, status } = state
  const { isReadOnly, name } = order
  if (isAdrift(state)) return `stint delegate retry ${name}`
  switch (status) {
    case 'running':
      return `stint delegate wait ${name}`
    case 'ready':
      return isReadOnly ? `stint delegate show ${name}` : `stint merge ${name}`
    case 'conflicted':
    case 'failed':
      return `stint delegate retry ${name}`
    case 'parked':
      return `stint delegate show ${name}`
    default:
      return undefined
  }
}
