import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findRepository } from '../../git/repository.ts'
import { runGit } from '../../git/run-git.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { type Check, Findings, plural } from '../../project/doctor/report.ts'
import type { Place } from '../../project/store/place.ts'
import { runIds } from '../../project/store/run-files.ts'
import { readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { isRunningNow } from '../runs.ts'
import { headNow, headOf, uncommitted } from '../worktree/tree.ts'
import { worktreesFolder } from '../../project/store/worktrees.ts'
import {
  type DelegateState,
  allDelegates,
  isAttended,
  isOrphaned,
  isUnsettled,
} from '../delegate/delegates.ts'
import { isOfDeadTry } from '../merge/target.ts'

// What runs left: work that can be gone on with, processes, worktrees. It is said with what to do about it, and left alone.

const PATHS_SHOWN = 5
/** Worktrees of delegates and of merges, which are looked at with them. */
const OF_DELEGATES = /^(?:delegate|merge|try)-[0-9a-f]{6}/

interface Run {
  readonly name: string
  readonly state: RunState
  readonly isRunning: boolean
}

export function checkRuns(place: Place): readonly Check[] {
  const runs = runIds(place).flatMap((run): readonly Run[] => {
    const state = foldRun(readRun(place, run))
    return state === undefined
      ? []
      : [{ name: shortId(run), state, isRunning: isRunningNow(state) }]
  })
  // Those of delegates are looked at where more is known of them.
  const own = runs.filter(({ state }) => state.started.delegate === undefined)
  return [checkEnds(own), checkWorktrees(place, own, runs)]
}

function checkEnds(runs: readonly Run[]): Check {
  const findings = new Findings('runs')
  for (const { name, state } of runs.filter(({ isRunning }) => !isRunning)) {
    const { attempts, conversations, ended, runner } = state
    if (ended === undefined) {
      const open = attempts.filter(({ outcome }) => outcome === undefined).length
      const left = open === 0 ? '' : ` in the middle of ${plural(open, 'attempt')}`
      findings.note(
        `run ${name}: its process ${runner.pid} is gone${left}; go on with: stint run --resume ${name}`,
      )
    }
    for (const { pid } of conversations.map(({ opened }) => opened.process).filter(isAlive)) {
      const how = canGoOn(state) ? `stint run --resume ${name} ends it` : `end it with: kill ${pid}`
      findings.problem(`run ${name}: process ${pid} of its agent is still there; ${how}`)
    }
  }
  const going = runs.filter(({ isRunning }) => isRunning).length
  const ok = going === 0 ? 'none was cut off' : `${plural(going, 'run')} going on, none cut off`
  return findings.check(ok, (count) => plural(count, 'remark'))
}

function checkWorktrees(place: Place, runs: readonly Run[], all: readonly Run[]): Check {
  const findings = new Findings('worktrees')
  for (const { name, state, isRunning } of runs) {
    const { tree, isInPlace } = state.started
    if (isInPlace || isRunning || !existsSync(tree)) continue
    const goOn = canGoOn(state) ? `; stint run --resume ${name} goes on in it` : ''
    findings.note(`${tree} of run ${name}: ${describeTree(place, tree, state.started.base)}${goOn}`)
  }
  const known = new Set(all.map(({ state }) => state.started.tree))
  for (const tree of treesInState(place).filter(
    (path) => !known.has(path) && !OF_DELEGATES.test(basename(path)),
  )) {
    findings.note(`${tree} of a run that is not known here: ${describeTree(place, tree)}`)
  }
  return findings.check(
    'none was left by a run',
    (count) => `${plural(count, 'worktree')} left by runs`,
  )
}

/** What would be lost with it, and how it is taken away so that nothing is. */
export function describeTree(place: Place, tree: string, base?: string): string {
  const path = inShell(tree)
  try {
    if (findRepository(tree)?.commonDir !== place.repository?.commonDir)
      return 'no worktree of this repository any more; look into it'
    const { branch } = headOf(tree)
    const dirty = uncommitted(tree)
    const made =
      base === undefined ? 0 : Number(runGit(tree, ['rev-list', '--count', `${base}..HEAD`, '--']))
    const more = dirty.length > PATHS_SHOWN ? ` and ${dirty.length - PATHS_SHOWN} more` : ''
    const work =
      dirty.length === 0
        ? 'nothing uncommitted'
        : `not committed: ${dirty.slice(0, PATHS_SHOWN).join(', ')}${more}`
    const held = [
      work,
      ...(made === 0 ? [] : [`${plural(made, 'commit')} on ${branch ?? 'no branch'}`]),
    ].join(', ')
    if (branch === undefined)
      return `${held}; give its commits a branch first: git -C ${path} switch -c NAME`
    if (dirty.length > 0)
      return `${held}; commit what is wanted (git -C ${path} status), then: git worktree remove ${path}`
    return `${held}; take it away with: git worktree remove ${path} (the branch ${branch} stays)`
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return `cannot be looked into: ${error.message}`
  }
}

/** Every worktree that Stint has made for this repository and that is still there. */
export function treesInState(place: Place): readonly string[] {
  if (place.repository === undefined) return []
  const folder = worktreesFolder(place)
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

function canGoOn({ ended }: RunState): boolean {
  return ended !== 'finished' && ended !== 'nothing to do'
}

export function inShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

// What delegates left: processes, worktrees, work that waits for somebody. It is said with what to do about it, and left alone.

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
