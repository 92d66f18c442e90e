import type { WorkflowTemplate } from '../../session/entries.ts'
import {
  DEFAULT_TEMPLATE,
  type FoundTemplate,
  findTemplate,
  listTemplates,
  templateIn,
} from '../../backlog/workflow/templates.ts'
import type { Workspace } from '../store/workspace.ts'

export function templateFor(workspace: Workspace, wanted = DEFAULT_TEMPLATE): WorkflowTemplate {
  const places = placesFor(workspace)
  return templateIn(findTemplate(wanted, places), places)
}

/** Throws when the template is invalid. */
export function templateText(workspace: Workspace, wanted: string): FoundTemplate {
  const places = placesFor(workspace)
  const found = findTemplate(wanted, places)
  templateIn(found, places)
  return found
}

export function workflowTemplates(workspace: Workspace): readonly FoundTemplate[] {
  return listTemplates(placesFor(workspace))
}

function placesFor({ place, cwd }: Workspace) {
  return { sessions: place.sessions, cwd }
}
