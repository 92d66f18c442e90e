// What the journal tells of a task that is done: the commits, the files, the test, and in the same write that it is closed.
import { runGit } from '../../git/run-git.ts'
import { refreshTasks } from '../../project/tasks/backlog.ts'
import { makeCheckpoint } from '../../project/lifecycle/checkpoint.ts'
import { type Draft, draft } from '../../session/entries.ts'
import type { RunSession } from './run-session.ts'
import { type RunContext, RunEnds, type TaskWork, readBacklog } from './run-context.ts'
import { newCommits } from '../worktree/tree.ts'
import { StintError } from '../../journal/errors.ts'
import { commandEnvironment } from './agent-environment.ts'
import { type Proof, prove } from '../proof/prove.ts'

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
