import type { Workspace } from '../project/store/workspace.ts'
import type { RunOptions } from './options.ts'
import type { Settled } from './scene.ts'

/** The options, with what the configuration says where they do not. */
export function settle(workspace: Workspace, options: RunOptions): Settled {
  const { run } = workspace.config
  return {
    ...options,
    harness: options.harness ?? run.harness ?? 'claude',
    permissions: options.permissions ?? run.permissions,
    onFailure: options.onFailure ?? run.onFailure,
    onLimit: options.onLimit ?? run.onLimit,
    batch: options.batch ?? run.batch,
    silenceMs: run.silenceMinutes * 60_000,
    taskMs: run.taskMinutes * 60_000,
    verifyMs: run.verifyMinutes * 60_000,
    idleTurns: run.idleTurns,
    allow: run.allow,
    ...((options.model ?? run.model) === undefined ? {} : { model: options.model ?? run.model! }),
  }
}
