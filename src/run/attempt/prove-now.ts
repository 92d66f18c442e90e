import { StintError } from '../../journal/errors.ts'
import { commandEnvironment } from './agent-environment.ts'
import { RunEnds } from './run-ends.ts'
import { type Proof, prove } from '../proof/prove.ts'
import { readBacklog } from './read-backlog.ts'
import type { RunContext } from './run-context.ts'
import type { TaskWork } from './task-work.ts'

/** Looks now whether the task is done, from the tree and the backlog as they are. */
export async function proveNow(
  scene: RunContext,
  work: Pick<TaskWork, 'task' | 'name' | 'base' | 'leftBefore'>,
): Promise<Proof> {
  const { delegate, settled, stopping, tell, tree, workspace } = scene
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
    ...(delegate?.mend === undefined ? {} : { contains: delegate.mend.onto }),
    ...(delegate === undefined
      ? {}
      : { [delegate.order.isReadOnly ? 'report' : 'produces']: delegate.order.output }),
    verifying: (command) => tell({ type: 'verify.started', task: work.name, command }),
  })
  if (proof.verify !== undefined) {
    const { passed, seconds, ending } = proof.verify
    tell({ type: 'verify.ended', task: work.name, passed, seconds, summary: ending })
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
