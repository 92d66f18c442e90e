import type { SessionState } from '../../session/state.ts'
import type { Workspace } from '../store/workspace.ts'
import { type BeginWorkflow, beginWorkflow } from './begin.ts'
import { listWorkflows, overviewOf, workflowStatus } from './overview.ts'
import { type ApproveOptions, type PhaseOptions, approvePhase, enterPhase } from './phases.ts'
import { type RecoverOptions, recoverWorkflow } from './recover.ts'
import { type SetOptions, setOnWorkflow } from './settings.ts'
import { templateText, workflowTemplates } from './templates.ts'

export type Workflows = ReturnType<typeof workflowsOf>

export function workflowsOf(workspace: Workspace) {
  const standing = ({ state }: { readonly state: SessionState }) => overviewOf(workspace, state)
  return {
    begin: async (begin: BeginWorkflow) => standing(await beginWorkflow(workspace, begin)),
    phase: async (phase: PhaseOptions) => standing(await enterPhase(workspace, phase)),
    approve: async (approve: ApproveOptions) => standing(await approvePhase(workspace, approve)),
    set: async (set: SetOptions) => standing(await setOnWorkflow(workspace, set)),
    status: (name?: string) => workflowStatus(workspace, name),
    list: () => listWorkflows(workspace),
    recover: (recover: RecoverOptions) => recoverWorkflow(workspace, recover),
    templates: () => workflowTemplates(workspace),
    template: (name: string) => templateText(workspace, name),
  }
}
