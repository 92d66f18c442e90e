// Reports what runs and delegates left behind, with the commands that clean it up. Read-only.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runGit } from '../../git/run-git.ts'
import { dirtyPaths } from '../../git/status.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { CheckFindings, type DoctorCheck, pluralOf } from '../../project/doctor/diagnosis.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { runIds } from '../../project/store/run-files.ts'
import { worktreesFolder } from '../../project/store/worktrees.ts'
import {
  type DelegateState,
  hasLiveProcess,
  isLeftBehind,
  isOpenDelegate,
  readDelegates,
} from '../delegate/delegates.ts'
import { RECONCILE } from '../delegate/delegate-row.ts'
import { isOrphanedDryRun } from '../merge/target-branch.ts'
import { readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { isRunningNow } from '../runs.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import {
  IGNORED_PATHS,
  isOwnTree,
  readTreeHead,
  repositoryAt,
  requireHead,
} from '../worktree/run-tree.ts'
import { listFolder } from '../../journal/read-files.ts'

/** Worktrees of delegates and merges, which `checkDelegates` reports. */
const DELEGATE_TREE = /^(delegate|merge|try)-([0-9a-f]{6})/

interface Run {
  readonly name: string
  readonly state: RunState
  readonly isRunning: boolean
}

export function checkRuns(paths: ProjectPaths): readonly DoctorCheck[] {
  const runs = runIds(paths).flatMap((run): readonly Run[] => {
    const state = foldRun(readRun(paths, run))
    return state ? [{ name: shortId(run), state, isRunning: isRunningNow(state) }] : []
  })
  const own = runs.filter(({ state }) => state.started.delegate === undefined)
  return [checkInterrupted(own), checkWorktrees(paths, own, runs)]
}

function checkInterrupted(runs: readonly Run[]): DoctorCheck {
  const findings = new CheckFindings('runs')
  for (const { name, state } of runs.filter(({ isRunning }) => !isRunning)) {
    const { attempts, ended, runner } = state
    if (ended === undefined) {
      const open = attempts.filter(({ outcome }) => outcome === undefined).length
      const left = open === 0 ? '' : ` in the middle of ${pluralOf(open, 'attempt')}`
      findings.note(
        `run ${name}: its process ${runner.pid} is gone${left}; go on with: stint run --resume ${name}`,
      )
    }
    for (const pid of livingAgents(state)) {
      const how = isResumable(state)
        ? `stint run --resume ${name} ends it`
        : `end it with: kill ${pid}`
      findings.problem(`run ${name}: process ${pid} of its agent is still there; ${how}`)
    }
  }
  const going = runs.filter(({ isRunning }) => isRunning).length
  const ok = going === 0 ? 'none was cut off' : `${pluralOf(going, 'run')} going on, none cut off`
  return findings.check(ok, (count) => pluralOf(count, 'remark'))
}

function livingAgents({ conversations }: RunState): readonly number[] {
  const processes = conversations.map(({ opened }) => opened.process)
  return processes.filter(isAlive).map(({ pid }) => pid)
}

function checkWorktrees(
  paths: ProjectPaths,
  runs: readonly Run[],
  all: readonly Run[],
): DoctorCheck {
  const findings = new CheckFindings('worktrees')
  for (const { name, state, isRunning } of runs) {
    const { base, tree, isInPlace } = state.started
    if (isInPlace || isRunning || !existsSync(tree)) continue
    const resumeHint = isResumable(state) ? `; stint run --resume ${name} goes on in it` : ''
    findings.note(`${tree} of run ${name}: ${describeTree(paths, tree, base)}${resumeHint}`)
  }
  const known = new Set(all.map(({ state }) => state.started.tree))
  for (const tree of listWorktrees(paths))
    if (!known.has(tree) && !DELEGATE_TREE.test(basename(tree)))
      findings.note(`${tree} of a run that is not known here: ${describeTree(paths, tree)}`)
  return findings.check(
    'none was left by a run',
    (count) => `${pluralOf(count, 'worktree')} left by runs`,
  )
}

function describeTree(paths: ProjectPaths, tree: string, base?: string): string {
  const path = shellQuote(tree)
  try {
    if (repositoryAt(tree) === undefined || !isOwnTree(paths, { tree, isInPlace: false }))
      return 'no worktree of this repository any more; look into it'
    const { branch } = requireHead(tree)
    const dirty = dirtyPaths(tree, IGNORED_PATHS)
    const made =
      base === undefined ? 0 : Number(runGit(tree, ['rev-list', '--count', `${base}..HEAD`, '--']))
    const work =
      dirty.length === 0 ? 'nothing uncommitted' : `not committed: ${abbreviateList(dirty)}`
    const commits = made === 0 ? '' : `, ${pluralOf(made, 'commit')} on ${branch ?? 'no branch'}`
    const contents = `${work}${commits}`
    if (branch === undefined)
      return `${contents}; give its commits a branch first: git -C ${path} switch -c NAME`
    if (dirty.length > 0)
      return `${contents}; commit what is wanted (git -C ${path} status), then: git worktree remove ${path}`
    return `${contents}; take it away with: git worktree remove ${path} (the branch ${branch} stays)`
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return `cannot be looked into: ${error.message}`
  }
}

function listWorktrees(paths: ProjectPaths): readonly string[] {
  if (paths.repository === undefined) return []
  const folder = worktreesFolder(paths)
  return listFolder(folder).map((name) => join(folder, name))
}

function isResumable({ ended }: RunState): boolean {
  return ended !== 'finished' && ended !== 'nothing to do'
}

function shellQuote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

export function checkDelegates(paths: ProjectPaths): readonly DoctorCheck[] {
  const all = readDelegates(paths)
  const findings = new CheckFindings('delegates')
  for (const state of all) checkDelegate(findings, paths, state)
  for (const text of describeOrphanedTrees(paths, all)) findings.note(text)
  const going = all.filter(hasLiveProcess).length
  const waiting = all.filter((state) => isOpenDelegate(state) && !hasLiveProcess(state)).length
  const atWork = going === 0 ? 'none is at work' : `${going} at work`
  const ok = waiting === 0 ? atWork : `${atWork}, ${waiting} to be merged or discarded`
  return [findings.check(ok, (count) => pluralOf(count, 'remark'))]
}

function checkDelegate(findings: CheckFindings, paths: ProjectPaths, state: DelegateState): void {
  const { order, run, status } = state
  const { name } = order
  const { base, tree } = run.started
  if (isLeftBehind(state)) {
    const work = status === 'merging' ? 'merging' : 'working on'
    findings.note(`${name}: no process is ${work} it any more; ${RECONCILE} records how it ended`)
  }
  if (!hasLiveProcess(state))
    for (const pid of livingAgents(run))
      findings.problem(
        `${name}: process ${pid} of its agent is still there; stint delegate stop ${name} ends it`,
      )
  if (!isOpenDelegate(state) && existsSync(tree))
    findings.note(`${tree} of ${name}, which is ${status}: ${describeTree(paths, tree, base)}`)
}

/** Worktrees left by a process that was killed while it created or merged a delegate. */
function describeOrphanedTrees(
  paths: ProjectPaths,
  all: readonly DelegateState[],
): readonly string[] {
  const known = new Set(all.map(({ run }) => run.started.tree))
  const merging = new Set(
    all
      .filter((state) => state.status === 'merging' && hasLiveProcess(state))
      .map(({ id }) => shortId(id)),
  )
  return listWorktrees(paths).flatMap((tree) => {
    const [, kind, short = ''] = DELEGATE_TREE.exec(basename(tree)) ?? []
    if (kind === 'delegate' && !known.has(tree)) {
      const branch = readTreeHead(tree)?.branch
      const more =
        branch === undefined
          ? ''
          : `, then the branch, if nothing is on it: git branch -d ${shellQuote(branch)}`
      return [
        `${tree} was made for a delegate that was never begun: ${describeTree(paths, tree)}${more}`,
      ]
    }
    const isLeft =
      kind === 'merge' ? !merging.has(short) : kind === 'try' && isOrphanedDryRun(basename(tree))
    if (!isLeft) return []
    const what = kind === 'merge' ? 'a merge' : 'a merge that was only tried'
    return [
      `${tree} was left by ${what}: nobody needs it; take it away with: git worktree remove --force ${shellQuote(tree)}`,
    ]
  })
}
