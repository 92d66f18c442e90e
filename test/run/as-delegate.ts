import { mintId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/workspace.ts'
import type { DelegateOrder } from '../../src/run/delegate-order.ts'
import type { RunOptions } from '../../src/run/options.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { treeOfItsOwn } from '../../src/run/tree.ts'
import type { RunWorld } from './run-world.ts'

/** A delegate whose process died before it had done anything, so that whoever resumes it begins. */
export function leftDelegate(world: RunWorld, options: RunOptions, order: Partial<DelegateOrder> = {}): string {
  const workspace = new Workspace(world.project.root)
  workspace.prepare()
  const run = mintId(undefined)
  const log = RunLog.create(workspace.place, run, workspace.config, {
    options: { harness: 'rehearsal', ...options },
    harness: 'rehearsal',
    source: '.tasks',
    ...treeOfItsOwn(workspace.place, run, undefined),
    runner: { pid: 2 ** 22 - 1, startedAt: '1', mark: '' },
    delegate: { name: 'one', what: 'One', target: 'main', isReadOnly: false, files: [], slot: 2, brief: '', ...order },
  })
  log.append('run.ended', { how: 'interrupted' })
  log.close()
  workspace.close()
  return run
}
