import { isAgreedVerify } from '../../project/trust/trust.ts'
import { commitOfRef } from '../../git/head.ts'
import { runGit, writeGit } from '../../git/run-git.ts'
import { StintError, reasonOf } from '../../journal/errors.ts'
import { makeCheckpoint } from '../../project/lifecycle/checkpoint.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { refreshTasks } from '../../project/tasks/project-backlog.ts'
import { draftEntry } from '../../session/entries.ts'
import { findProtectedChanges } from '../proof/protected-paths.ts'
import { type Proof, prove } from '../proof/prove.ts'
import { defined } from '../../text/defined.ts'
import { newCommits, readTreeHead, requireOwnTree } from '../worktree/run-tree.ts'
import {
  type RunContext,
  RunEndedError,
  type TaskWork,
  commandEnvironment,
  readBacklog,
} from './run-context.ts'
import type { RunSession } from './run-session.ts'

const MOST_FILES = 40

export async function recordDone(
  context: RunContext,
  session: RunSession,
  work: TaskWork,
  { commit, summary }: { readonly commit: string; readonly summary: string },
): Promise<void> {
  const { delegate, source, tree, workspace, tracking } = context
  const { base, name, task } = work
  const commits = newCommits(tree.tree, base).map((made) =>
    draftEntry('commit.made', made, { by: 'run', once: `commit:${made.commit}` }),
  )
  const files = runGit(tree.tree, ['diff', '--name-only', '-z', base, commit, '--'])
    .split('\0')
    .filter((path) => path !== '')
    .slice(0, MOST_FILES)
    .map((path) => draftEntry('file.changed', { path }, { by: 'run' }))
  const made = [...commits, ...files]
  // A delegate's task is closed by its merge.
  if (delegate === undefined) session.complete(task, summary, commit, made)
  else session.finishStep(task, made)
  await completeInSource(context, work, summary)
  await refreshTasks(workspace, source.name === '.tasks' ? [task.id] : [])
  if (tracking === 'full')
    await makeCheckpoint(workspace, {
      session: session.id,
      note: `${name.name} is done`,
      by: 'run',
    })
  else await session.refresh()
}

/** Closes the task in the backlog it came from. The journal has it already, so a failure is only reported. */
export async function completeInSource(
  { source, tree: { tree }, workspace }: Pick<RunContext, 'source' | 'tree' | 'workspace'>,
  { name, task }: Pick<TaskWork, 'task' | 'name'>,
  summary: string,
): Promise<void> {
  try {
    const paths = await source.complete(task, summary, tree)
    if (paths.length === 0) return
    const message = `backlog: ${name.name} is done`
    try {
      const commit = ['commit', '--quiet', '--no-verify', '-m', message, '--', ...paths]
      writeGit(tree, commit, { hasHooks: true })
    } catch (error) {
      // Otherwise the next task would start with a change that is not its own.
      writeGit(tree, ['checkout', '--quiet', 'HEAD', '--', ...paths])
      throw error
    }
  } catch (error) {
    workspace.say(`${source.name} could not be told that ${name.name} is done: ${reasonOf(error)}`)
  }
}

/** What is on the target, or checked out by the user, did not come from this agent. */
function userCommit({ delegate, tree, workspace }: RunContext): string | undefined {
  const repository = requireRepository(workspace.paths)
  if (delegate !== undefined) return commitOfRef(repository, `refs/heads/${delegate.target}`)
  return tree.isInPlace ? undefined : readTreeHead(repository.mainRoot)?.commit
}

export async function proveTask(
  context: RunContext,
  { base, leftBefore, name, task }: Pick<TaskWork, 'task' | 'name' | 'base' | 'leftBefore'>,
): Promise<Proof> {
  const { delegate, options, stopping, emit, tree, workspace } = context
  requireOwnTree(workspace.paths, tree)
  // The agent ticks items while it works.
  const now = (await readBacklog(context)).byId.get(task.id) ?? task
  if (now.verify !== undefined && !isAgreedVerify(workspace.paths, now.verify))
    return {
      isDone: false,
      reasons: [`the user has not agreed to its verify command: stint trust`],
    }
  const proof = await prove(now, {
    tree: tree.tree,
    branch: tree.branch,
    base,
    leftBefore,
    verify: options.verify ?? workspace.config.verify,
    verifyMs: options.verifyMs,
    env: commandEnvironment(context),
    isStopped: stopping.now,
    findProtected: (head) =>
      findProtectedChanges(
        workspace,
        { from: base, to: head },
        { ...defined({ allowed: options.allowProtected }), known: userCommit(context) },
      ),
    ...delegate?.proof,
    onVerify: (command) => emit('verify.started', { command }, { task: name }),
  }).catch((error: unknown) => {
    // A verify command that was stopped proves nothing either way.
    if (error instanceof StintError && error.code === 'STOPPED')
      throw new RunEndedError('interrupted', 'stopped')
    throw error
  })
  if (proof.verify !== undefined) {
    const { passed, seconds, ending } = proof.verify
    emit('verify.ended', { passed, seconds, summary: ending }, { task: name })
  }
  return proof
}
