import { publicWorkflow } from '../public/projection.ts'
import { currentLeaf } from '../session/kinds/phases.ts'
import { defined } from '../text/defined.ts'
import type { WorkflowRow } from './page-types.ts'
import { type OpenedProject, notFoundError } from './project-pool.ts'

export async function listWorkflowRows({
  project,
  workspace,
}: OpenedProject): Promise<readonly WorkflowRow[]> {
  const overviews = await (await project.workflows()).list()
  if (overviews.length === 0) return []
  const index = await workspace.index()
  return overviews.flatMap((overview) => {
    const session = index.session(overview.state.id)
    return session === undefined ? [] : [{ session, workflow: publicWorkflow(overview) }]
  })
}

export async function approveOrReject(
  { project }: OpenedProject,
  workflow: string,
  action: string,
  comment: string | undefined,
) {
  const note = comment?.trim() === '' ? undefined : comment
  const workflows = await project.workflows()
  const by = 'page'
  if (action === 'approve')
    return publicWorkflow(await workflows.approve({ workflow, by, ...defined({ note }) }))
  if (action !== 'reject') throw notFoundError('such thing to do with a workflow')
  // Rejecting re-enters the current phase and journals the reason.
  const reason = `not approved${note === undefined ? '' : `: ${note}`}`
  const phase = currentLeaf((await workflows.status(workflow)).workflow).leaf.id
  return publicWorkflow(await workflows.phase({ workflow, phase, note: reason, by }))
}
