import { join } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { runGit, tryGit, unlessGitFails } from '../../git/run-git.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { runLogPaths } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import { priceUsage } from '../report.ts'
import { sumAttemptUsage } from '../run-state.ts'
import { commitsIn } from '../worktree/run-tree.ts'
import { type DelegateState, hasLiveProcess, isLeftBehind, isOpenDelegate } from './delegates.ts'
import { countCommitsBeyond } from './delegate-commits.ts'

/** The options of `stint delegate`. */
export interface DelegateRequest {
  readonly what: string
  /** tests, docs, review, research or any profile; review and research only read. */
  readonly as?: string
  readonly task?: string
  readonly group?: string
  /** Where its branch starts: a branch, which is then also its target, or any commit. */
  readonly base?: string
  readonly harness?: string
  readonly model?: string
  readonly files?: readonly string[]
  readonly output?: string
  /** The session it works for; default: the active one. */
  readonly session?: string
  readonly verify?: string
  readonly budgetTokens?: number
  readonly budgetUsd?: number
  readonly maxMinutes?: number
  readonly permissions?: 'edits' | 'all'
  /** Script of the rehearsal harness. */
  readonly script?: string
}

/** A delegate in a list. */
export type DelegateRow = ReturnType<typeof toDelegateRow>

export interface MergeOptions {
  /** Reports what would happen, and changes nothing. */
  readonly isDryRun?: boolean
  /** Asked after verify passed, before the target moves. */
  readonly review?: (proposal: MergeProposal) => Promise<boolean>
  /** Restarts a delegate with its conflict; without it, the delegate stays rejected. */
  readonly sendBack?: (delegate: string) => Promise<void>
  readonly isPullRequest?: boolean
  /** Paths of settings or hooks that the user lets the work change. */
  readonly allowProtected?: readonly string[]
  readonly isStopped?: AbortSignal
}

export interface MergeProposal {
  readonly delegate: string
  readonly name: string
  readonly target: string
  readonly from: string
  readonly to: string
  readonly stat: string
  readonly summary?: string
  readonly contradictions: readonly string[]
}

export function toDelegateRow({ paths, config }: Workspace, state: DelegateState) {
  const { id, move, order, ready, run, since, status } = state
  const { base, branch, harness, tree } = run.started
  const { as, group, isReadOnly, name, parent, target, task, what } = order
  const isRunning = status === 'running'
  const isWorking = isRunning && hasLiveProcess(state)
  // No entry records the end of a wait.
  const isWaiting = isWorking && Date.parse(run.waitsUntil ?? '') > Date.now()
  const known = {
    as,
    group,
    task,
    parent,
    run: order.run,
    summary: move?.summary ?? ready?.summary,
    because: isRunning ? undefined : move?.because,
    waitsUntil: isWaiting ? run.waitsUntil : undefined,
    report: ready?.report,
    kept: move?.kept,
    left: isRunning ? undefined : move?.left,
    pr: move?.pr ?? ready?.pr,
    next: nextCommand(state),
  }

  return {
    id,
    name,
    status,
    isOrphaned: isLeftBehind(state),
    what,
    harness,
    branch,
    tree,
    target,
    isReadOnly,
    startedAt: run.startedAt,
    since,
    seconds: isWorking ? (Date.now() - Date.parse(since)) / 1000 : run.seconds,
    spend: priceUsage(sumAttemptUsage(run.attempts), config.prices),
    // Hundreds may be merged or discarded; their logs have the count, without a git process each.
    commits:
      (isOpenDelegate(state) ? undefined : move?.commits) ??
      countCommitsBeyond(paths, base, [`refs/heads/${branch}`, ready?.commit, move?.kept]),
    ...defined(known),
  }
}

/** Reading changes nothing, so an orphaned delegate stays one until a command reconciles it. */
export const RECONCILE = 'stint doctor --repair'

function nextCommand(state: DelegateState) {
  const { isReadOnly, name } = state.order
  const { status } = state
  if (isLeftBehind(state)) return RECONCILE
  if (status === 'conflicted' || status === 'failed') return `stint delegate retry ${name}`
  if (status === 'running') return `stint delegate wait ${name}`
  if (status === 'ready' && !isReadOnly) return `stint merge ${name}`
  return status === 'ready' || status === 'parked' ? `stint delegate show ${name}` : undefined
}

/** A delegate with all its details. */
export type DelegateDetail = ReturnType<typeof toDelegateDetail>

/** One attempt at its task. */
export type AttemptDetail = DelegateDetail['attempts'][number]

export function toDelegateDetail({ paths }: Workspace, state: DelegateState, row: DelegateRow) {
  const { order, run, move, rejected, notes } = state
  const model = run.conversations.findLast((one) => one.model !== undefined)?.model
  const kept = [...run.attempts.map((attempt) => attempt.kept), move?.kept]
  const report = row.report && readOrUndefined(join(paths.sessions, row.report))
  return {
    ...row,
    order,
    base: run.started.base,
    ...readChanges(requireRepository(paths), state),
    attempts: run.attempts.map(({ started, at, outcome, reason, seconds, commit }) => ({
      number: started.number,
      place: started.place,
      at,
      seconds,
      ...defined({ outcome, reason, commit }),
    })),
    rejected,
    sessions: run.sessions.map(({ session, name }) => ({ id: session, name })),
    keptRefs: [...new Set(kept.filter((ref) => ref !== undefined))],
    notes,
    logPath: runLogPaths(paths, state.id).path,
    ...defined({ reportText: report?.toString(), model: model ?? run.started.options.model, move }),
  }
}

/** The newest commits of its range, oldest first, and their `git diff --stat`. */
function readChanges(repository: Repository, state: DelegateState) {
  const range = findCommitRange(repository, state)
  const none = { commitList: [], stat: '' }
  if (range === undefined) return none
  const plain = ['--stat=100', '--no-color']
  // The commits may have been garbage-collected.
  const changes = unlessGitFails(() => ({
    commitList: commitsIn(repository, range),
    stat: runGit(repository, ['diff', ...plain, range, '--']).trimEnd(),
  }))
  return changes ?? none
}

/** The commits the target would gain, or gained: after the merge, everything since the branch started. */
export function findCommitRange(
  repository: Repository,
  { order, run, status, ready, move }: DelegateState,
): string | undefined {
  const tip = tipOf(repository, run.started.branch) ?? ready?.commit ?? move?.kept
  if (tip === undefined) return undefined
  const target = status === 'merged' ? undefined : tipOf(repository, order.target)
  const shared = target && tryGit(repository, ['merge-base', target, tip])?.trim()
  return `${shared || run.started.base}..${tip}`
}

function tipOf(repository: Repository, branch: string) {
  return commitOfRef(repository, `refs/heads/${branch}`)
}
