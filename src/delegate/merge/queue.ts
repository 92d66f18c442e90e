import type { Workspace } from '../../project/workspace.ts'
import type { MergeEvent, MergeOptions, MergeOutcome } from '../contract.ts'

export async function mergeDelegates(
  _workspace: Workspace,
  _ids: readonly string[],
  _options: MergeOptions,
  _tell: (event: MergeEvent) => void,
): Promise<readonly MergeOutcome[]> {
  return []
}
