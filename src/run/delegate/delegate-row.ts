import { join } from 'node:path'
import { tryGit } from '../../git/run-git.ts'
import { readOrUndefined } from '../../journal/look.ts'
import type { Place } from '../../project/store/place.ts'
import { runLogPlace } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import type {
  AttemptOutcome,
  DelegateMove,
  DelegateOrder,
  DelegateStatus,
  Spend,
} from '../entries.ts'
import { spendOf } from '../report.ts'
import { addSpent } from '../run-state.ts'
import { commitOf } from '../worktree/tree.ts'
import { type DelegateState, isAttended, isOrphaned, isUnsettled } from './delegates.ts'
import { commitsBeyond } from './kept-commits.ts'

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
    isOrphaned: isOrphaned(state),
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
    ...defined(known),
  }
}

/** Nobody writes down that a wait is over. */
function isAhead(moment: string | undefined): boolean {
  return moment !== undefined && Date.parse(moment) > Date.now()
}

function nextCommand(state: DelegateState): string | undefined {
  const { order, status } = state
  const { isReadOnly, name } = order
  if (isOrphaned(state)) return `stint delegate retry ${name}`
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

export interface DelegateDetail extends DelegateRow {
  readonly order: DelegateOrder
  readonly model?: string
  /** The commit that its branch began at. */
  readonly base: string
  /** The newest commits that the target does not have, or did not have before it was merged, the oldest first. */
  readonly commitList: readonly { readonly commit: string; readonly subject: string }[]
  /** `git diff --stat` of the same. */
  readonly stat: string
  readonly attempts: readonly AttemptDetail[]
  /** How often its work did not go into the target. */
  readonly rejected: number
  /** What its last step had to tell, conflict and verify command included. */
  readonly move?: DelegateMove
  readonly sessions: readonly { readonly id: string; readonly name: string }[]
  /** References under which work is kept that is on no branch. */
  readonly keptRefs: readonly string[]
  /** What one that only reads found. */
  readonly reportText?: string
  /** What was said to it when it was begun again. */
  readonly notes: readonly string[]
  readonly logPath: string
}

export interface AttemptDetail {
  readonly number: number
  readonly place: string
  readonly at: string
  /** Absent while it goes on. */
  readonly outcome?: AttemptOutcome
  readonly reason?: string
  readonly seconds: number
  readonly commit?: string
}

/** As much of a branch as a person looks through. */
const MOST_COMMITS = 50

export function detailOf(
  { place }: Workspace,
  state: DelegateState,
  row: DelegateRow,
): DelegateDetail {
  const { order, run, move, rejected, notes } = state
  const model =
    run.conversations.findLast(({ model: used }) => used !== undefined)?.model ??
    run.started.options.model
  const kept = [...run.attempts.map((attempt) => attempt.kept), move?.kept].filter(
    (ref) => ref !== undefined,
  )
  return {
    ...row,
    order,
    base: run.started.base,
    ...changesOf(repositoryOf(place).mainRoot, state),
    attempts: run.attempts.map(({ started, at, outcome, reason, seconds, commit }) => ({
      number: started.number,
      place: started.place,
      at,
      seconds,
      ...defined({ outcome, reason, commit }),
    })),
    rejected,
    sessions: run.sessions.map(({ session, name }) => ({ id: session, name })),
    keptRefs: [...new Set(kept)],
    notes,
    logPath: runLogPlace(place, state.id).path,
    ...reportOf(place, row),
    ...defined({ model, move }),
  }
}

function reportOf(
  { sessions }: Place,
  { report }: DelegateRow,
): Pick<DelegateDetail, 'reportText'> {
  const text = report === undefined ? undefined : readOrUndefined(join(sessions, report))
  return text === undefined ? {} : { reportText: text.toString('utf8') }
}

function changesOf(
  root: string,
  state: DelegateState,
): Pick<DelegateDetail, 'commitList' | 'stat'> {
  const range = rangeOf(root, state)
  if (range === undefined) return { commitList: [], stat: '' }
  // Commits that are gone, by hand, have nothing to show; the log of the delegate still has.
  const log = tryGit(root, ['log', `--max-count=${MOST_COMMITS}`, '--format=%H %s', range, '--'])
  const plain = ['--stat=100', '--no-color', '--no-ext-diff', '--no-textconv']
  const stat = log === undefined ? undefined : tryGit(root, ['diff', ...plain, range, '--'])
  if (log === undefined || stat === undefined) return { commitList: [], stat: '' }
  const lines = log.split('\n').filter((line) => line !== '')
  return {
    commitList: lines.toReversed().map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1),
    })),
    stat: stat.trimEnd(),
  }
}

/** What the target would gain, or gained: once it contains the branch, that is what came since the branch began. */
export function rangeOf(
  root: string,
  { order, run, status, ready, move }: DelegateState,
): string | undefined {
  const tip = commitOf(root, run.started.branch) ?? ready?.commit ?? move?.kept
  if (tip === undefined) return undefined
  const target = commitOf(root, order.target)
  const shared =
    status === 'merged' || target === undefined
      ? undefined
      : tryGit(root, ['merge-base', target, tip])?.trim() || undefined
  return `${shared ?? run.started.base}..${tip}`
}

// What is asked of delegates and of the merge queue, and what they answer.

/** What `stint delegate` may be told. */
export interface DelegateRequest {
  readonly what: string
  /** tests, docs, review, research or any profile. Those that review and research only read. */
  readonly as?: string
  /** A task of the backlog, by id or short name. */
  readonly task?: string
  readonly group?: string
  /** Where its branch begins: a branch, which is then also its target, or any commit. */
  readonly base?: string
  readonly harness?: string
  readonly model?: string
  readonly files?: readonly string[]
  readonly output?: string
  /** The session it works for; the one that is active here when absent. */
  readonly session?: string
  readonly verify?: string
  readonly budgetTokens?: number
  readonly budgetUsd?: number
  readonly maxMinutes?: number
  readonly permissions?: 'edits' | 'all'
  /** Script of the rehearsal harness. */
  readonly script?: string
}

/** A delegate as it is listed. */
export interface DelegateRow {
  readonly id: string
  readonly name: string
  readonly status: DelegateStatus
  /** It is called running, and nobody runs it. */
  readonly isOrphaned: boolean
  readonly what: string
  readonly as?: string
  readonly group?: string
  readonly task?: string
  readonly parent?: string
  readonly run?: string
  readonly harness: string
  readonly branch: string
  readonly tree: string
  readonly target: string
  readonly isReadOnly: boolean
  readonly startedAt: string
  readonly since: string
  /** Seconds that somebody worked on it. */
  readonly seconds: number
  readonly spend: Spend
  /** Commits beyond where it began. */
  readonly commits: number
  readonly summary?: string
  readonly because?: string
  /** When the usage limit ends that it waits for. */
  readonly waitsUntil?: string
  readonly report?: string
  readonly kept?: string
  /** What is in no commit, and still in its worktree. */
  readonly left?: readonly string[]
  readonly pr?: string
  /** What a person would do next, as a command. */
  readonly next?: string
}

export interface MergeOptions {
  /** Says what would happen, in a worktree that is thrown away. Changes nothing. */
  readonly isDryRun?: boolean
  /** Asked when all is green, before the target moves. */
  readonly review?: (proposal: MergeProposal) => Promise<boolean>
  /** Begins the delegate again with the conflict; it is told the id. Absent: it stays as it is. */
  readonly sendBack?: (delegate: string) => Promise<void>
  /** Opens a pull request instead of moving the target. */
  readonly isPullRequest?: boolean
  readonly isStopped?: AbortSignal
}

export interface MergeProposal {
  readonly delegate: string
  readonly name: string
  readonly target: string
  readonly from: string
  readonly to: string
  /** `git diff --stat` of what the target would gain. */
  readonly stat: string
  readonly summary?: string
  /** Decisions that do not go together with those of others. */
  readonly contradictions: readonly string[]
}
