// What the journal tells of a task that is done: the commits, the files, the test, and in the same write that it is closed.
import { runGit } from '../../git/run-git.ts'
import { refreshTasks } from '../../project/tasks/backlog.ts'
import { makeCheckpoint } from '../../project/lifecycle/checkpoint.ts'
import { type Draft, draft } from '../../session/entries.ts'
import type { RunSession } from './run-session.ts'
import { type RunContext, RunEnds, type TaskWork, readBacklog } from './run-context.ts'
import {
  bringBack,
  headInWords,
  headNow,
  hiddenPaths,
  newCommits,
  uncommitted,
} from '../worktree/tree.ts'
import { StintError } from '../../journal/errors.ts'
import { commandEnvironment } from './agent-environment.ts'
import { type Proof, prove } from '../proof/prove.ts'
import type { TaskName } from '../entries.ts'
import type { RunState } from '../run-state.ts'
import {
  type KeptWork,
  type WorkToKeep,
  commitAsFound,
  keepAndSetBack,
  keepWork,
} from '../worktree/rollback.ts'
import { defined } from '../../text/defined.ts'

const MOST_FILES = 40

export async function recordDone(
  scene: RunContext,
  session: RunSession,
  work: TaskWork,
  { commit, summary }: { readonly commit: string; readonly summary: string },
): Promise<void> {
  const { source, tree, workspace, tracking } = scene
  const made = [...commitDrafts(tree.tree, work.base), ...fileDrafts(tree.tree, work.base, commit)]
  // The task of a delegate closes when its work is where it is to go.
  if (scene.delegate === undefined) session.complete(work.task, summary, commit, made)
  else session.finishStep(work.task, made)
  await settle(scene, work, summary)
  await refreshTasks(workspace, source.name === '.tasks' ? [work.task.id] : [])
  if (tracking.codeCheckpoints)
    await makeCheckpoint(workspace, {
      session: session.id,
      note: `${work.name.name} is done`,
      by: 'run',
    })
  else await session.refresh()
}

function commitDrafts(tree: string, base: string): readonly Draft[] {
  return newCommits(tree, base).map(({ commit, subject }) =>
    draft('commit.made', { commit, subject }, { by: 'run', once: `commit:${commit}` }),
  )
}

function fileDrafts(tree: string, base: string, commit: string): readonly Draft[] {
  return runGit(tree, ['diff', '--name-only', '-z', base, commit, '--'])
    .split('\0')
    .filter((path) => path !== '')
    .slice(0, MOST_FILES)
    .map((path) => draft('file.changed', { path }, { by: 'run' }))
}

/** Tells the backlog it came from. The journal has it already: what fails here is only said. */
export async function settle(
  scene: Pick<RunContext, 'source' | 'tree' | 'workspace'>,
  work: Pick<TaskWork, 'task' | 'name'>,
  summary: string,
): Promise<void> {
  const { source, tree, workspace } = scene
  try {
    const paths = await source.settle(work.task, summary, tree.tree)
    if (paths.length === 0) return
    try {
      runGit(tree.tree, [
        'commit',
        '--quiet',
        '--no-verify',
        '-m',
        `backlog: ${work.name.name} is done`,
        '--',
        ...paths,
      ])
    } catch (error) {
      // Or the next task would begin with a change that is not its own.
      runGit(tree.tree, ['checkout', '--quiet', 'HEAD', '--', ...paths])
      throw error
    }
  } catch (error) {
    workspace.say(
      `${source.name} could not be told that ${work.name.name} is done: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** Looks now whether the task is done, from the tree and the backlog as they are. */
export async function proveNow(
  scene: RunContext,
  work: Pick<TaskWork, 'task' | 'name' | 'base' | 'leftBefore'>,
): Promise<Proof> {
  const { delegate, settled, stopping, emit, tree, workspace } = scene
  // Items are ticked while the agent works.
  const task = (await readBacklog(scene)).byId.get(work.task.id) ?? work.task
  const proof = await proofOrEnd(task, {
    tree: tree.tree,
    branch: tree.branch,
    base: work.base,
    leftBefore: work.leftBefore,
    verify: settled.verify ?? workspace.config.verify,
    verifyMs: settled.verifyMs,
    env: commandEnvironment(scene),
    isStopped: stopping.now,
    ...delegate?.proof,
    verifying: (command) => emit('verify.started', { command }, { task: work.name }),
  })
  if (proof.verify !== undefined) {
    const { passed, seconds, ending } = proof.verify
    emit('verify.ended', { passed, seconds, summary: ending }, { task: work.name })
  }
  return proof
}

/** A verify command that was stopped proves nothing either way. */
async function proofOrEnd(...args: Parameters<typeof prove>): Promise<Proof> {
  try {
    return await prove(...args)
  } catch (error) {
    if (error instanceof StintError && error.code === 'STOPPED')
      throw new RunEnds('interrupted', 'stopped')
    throw error
  }
}

// What a task leaves in the tree when it is not done: kept, and out of the way of the next one.

/** A task that was begun and that nobody saw the end of: what it has done so far is in the tree. */
export interface Unfinished extends Pick<TaskWork, 'name' | 'base' | 'leftBefore'> {
  readonly attempt: string
  readonly kept?: string
}

/** One task is worked on at a time, so that it can only be the last. */
export function unfinishedIn(state: RunState | undefined): Unfinished | undefined {
  const last = state?.attempts.at(-1)
  if (last === undefined || last.outcome === 'done' || last.outcome === 'blocked') return undefined
  const { attempt, task, base, leftBefore } = last.started
  if (state!.parked.has(task.id)) return undefined
  return {
    attempt,
    name: task,
    base,
    leftBefore: leftBefore ?? [],
    ...defined({ kept: last.kept }),
  }
}

/** Where work on a task begins: where it was when it is gone on with, else here, with what another left set aside. */
export function beginningOf(
  scene: RunContext,
  unfinished: Unfinished | undefined,
  task: TaskName,
): Pick<TaskWork, 'base' | 'leftBefore'> {
  const { tree } = scene.tree
  if (unfinished?.name.id === task.id && scene.delegate === undefined) return unfinished
  if (unfinished !== undefined && scene.delegate === undefined) setAside(scene, unfinished)
  const head = headNow(tree)
  if (head?.commit === undefined || head.branch !== scene.tree.branch)
    throw new RunEnds(
      'task failed',
      `HEAD of ${tree} was moved to ${headInWords(head)} before ${task.name} was begun`,
    )
  // All that is on the branch of a delegate is its own, from however many spells of work.
  if (scene.delegate !== undefined) return { base: scene.tree.base, leftBefore: [] }
  return { base: head.commit, leftBefore: [...uncommitted(tree), ...hiddenPaths(tree)] }
}

function setAside(scene: RunContext, { attempt, ...unfinished }: Unfinished): void {
  const { tree, log, workspace } = scene
  if (tree.isInPlace && uncommitted(tree.tree).length === 0) return
  const { kept, ends } = leaveWork(scene, unfinished, attempt)
  if (kept !== undefined && kept !== unfinished.kept) log.append('work.kept', { attempt, kept })
  if (ends !== undefined)
    throw new RunEnds('task failed', `${unfinished.name.name} is not gone on with: ${ends}`)
  if (kept !== undefined)
    workspace.say(`${unfinished.name.name} is not gone on with; its work is kept as ${kept}`)
}

/** Keeps what a task has left, and makes the run's own worktree ready for the next. In the user's checkout nothing is touched: then it says why the run cannot go on. */
export function leaveWork(
  scene: RunContext,
  work: Pick<TaskWork, 'name' | 'base' | 'leftBefore'>,
  attempt: string,
): { readonly kept?: string; readonly ends?: string } {
  const { tree } = scene
  if (tree.isInPlace) return leaveInPlace(scene, work, attempt)
  if (scene.delegate !== undefined) {
    const { kept, leftOut = [] } = commitAsFound(scene.workspace.place, scene.run, tree)
    sayLeftOut(scene, leftOut)
    return kept === undefined ? {} : { kept }
  }
  if (headNow(tree.tree) === undefined)
    bringBack(scene.workspace.place, tree.tree, tree.branch, work.base)
  const { kept, leftOut } = keepAndSetBack(tree, toKeep(scene, work, attempt))
  sayLeftOut(scene, leftOut)
  return kept === undefined ? {} : { kept }
}

/** Keeps what a task has done so far in the user's checkout, by which it is known again when the run is resumed. */
export function keepUnfinished(scene: RunContext, { attempt, ...work }: Unfinished): void {
  if (headNow(scene.tree.tree) === undefined) return
  const { kept } = keepWork(scene.tree, toKeep(scene, work, attempt))
  if (kept !== undefined) scene.log.append('work.kept', { attempt, kept })
}

function leaveInPlace(
  scene: RunContext,
  work: Pick<TaskWork, 'name' | 'base' | 'leftBefore'>,
  attempt: string,
): { readonly kept?: string; readonly ends?: string } {
  const { tree } = scene
  const head = headNow(tree.tree)
  if (head === undefined) return { ends: `the checkout ${tree.tree} is not there any more` }
  const { kept, leftOut }: KeptWork = keepWork(tree, toKeep(scene, work, attempt))
  if (kept === undefined) return {}
  sayLeftOut(scene, leftOut)
  const moved =
    head.branch === tree.branch ? '' : `HEAD of the checkout was moved to ${headInWords(head)}; `
  return {
    kept,
    ends: `${moved}the checkout is left as it is, and kept as ${kept}; stint run --resume goes on when it is clean and on ${tree.branch}`,
  }
}

function toKeep(
  scene: RunContext,
  { name, base, leftBefore }: Omit<Unfinished, 'attempt'>,
  attempt: string,
): WorkToKeep {
  return {
    ref: `refs/stint/runs/${scene.run}/${attempt}`,
    message: `stint: what was done for ${name.name}`,
    base,
    leftBefore,
  }
}

function sayLeftOut({ workspace }: RunContext, leftOut: readonly string[]): void {
  if (leftOut.length > 0)
    workspace.say(
      `too large to be kept, or a repository of its own, and left where it is: ${leftOut.join(', ')}`,
    )
}

/** A reason with where the work is to be found. */
export function withKept(reason: string, kept: string | undefined): string {
  return kept === undefined ? reason : `${reason} (its work is kept as ${kept})`.trimStart()
}
