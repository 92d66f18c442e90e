import type { Workspace } from '../../project/workspace.ts'
import type { DelegateState } from '../delegate-state.ts'

export async function tellBegun(_workspace: Workspace, _state: DelegateState): Promise<void> {}
export async function tellParent(_workspace: Workspace, _state: DelegateState): Promise<void> {}
