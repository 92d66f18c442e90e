import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { MOST_AT_ONCE, type RunOptions, type ResolvedOptions, resolveOptions } from '../options.ts'
import { refuseSecretCommand } from '../delegate/secret-command.ts'

/** The options with what the configuration says where they do not. What several at once cannot do is refused. */
export function settledForParallel(workspace: Workspace, options: RunOptions): ResolvedOptions {
  const settled = resolveOptions(workspace, options)
  const { parallel = 1, permissions, verify = '' } = settled
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MOST_AT_ONCE) {
    throw new StintError(
      'TOO_PARALLEL',
      `${parallel} tasks at once is not from 1 to ${MOST_AT_ONCE}: with more, merging is what everything waits for`,
      `stint run --parallel ${MOST_AT_ONCE} is the most`,
    )
  }
  refuseSecretCommand(workspace, verify)
  if (permissions === 'ask') {
    throw new StintError(
      'NOBODY_TO_ASK',
      'several agents at once cannot ask one person',
      'use --permissions edits, or leave --parallel away',
    )
  }
  return settled
}
