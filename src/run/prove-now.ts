import { plainEnvironment } from './agent-environment.ts'
import { type Proof, prove } from './prove.ts'
import type { Scene } from './scene.ts'
import type { TaskWork } from './task-work.ts'

/** Looks now whether the task is done, from the tree and the backlog as they are. */
export async function proveNow(scene: Scene, work: Pick<TaskWork, 'task' | 'name' | 'base' | 'leftBefore'>): Promise<Proof> {
  const { source, settled, stopping, tell, tree, workspace } = scene
  // Items are ticked while the agent works.
  const task = (await source.read()).byId.get(work.task.id) ?? work.task
  const proof = await prove(task, {
    tree: tree.tree,
    branch: tree.branch,
    base: work.base,
    leftBefore: work.leftBefore,
    verify: settled.verify ?? workspace.config.verify,
    verifyMs: settled.verifyMs,
    env: plainEnvironment(workspace.env),
    isStopped: stopping.now,
    verifying: (command) => tell({ type: 'verify.started', task: work.name, command }),
  })
  if (proof.verify !== undefined) {
    const { passed, seconds, ending } = proof.verify
    tell({ type: 'verify.ended', task: work.name, passed, seconds, summary: ending })
  }
  return proof
}
