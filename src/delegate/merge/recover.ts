import type { Workspace } from '../../project/workspace.ts'
import type { DelegateState } from '../delegate-state.ts'

export async function recoverMerge(_workspace: Workspace, state: DelegateState): Promise<DelegateState> {
  return state
}
