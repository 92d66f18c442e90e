import { workingFolder } from '../store/project-paths.ts'
import type { SessionState } from '../../session/state.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type BeginWorkflowOptions,
  beginWorkflow,
  templateText,
  workflowTemplates,
} from './begin.ts'
import {
  type ApproveOptions,
  type PhaseOptions,
  approvePhase,
  enterPhase,
  listWorkflowOverviews,
  openWorkflow,
  overviewOf,
  workflowStatus,
} from './phases.ts'
import { type RecoverOptions, recoverWorkflow } from './recover.ts'
import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { draftEntry } from '../../session/entries.ts'
import { MAX_DELIVERABLES } from '../../session/kinds/workflow.ts'
import type { Workflow } from '../../session/kinds/phases.ts'
import { oneLine } from '../../text/clean.ts'
import { isProjectRelative } from '../../backlog/workflow/templates.ts'
import type { SessionReading } from '../store/live-session.ts'

export type Workflows = ReturnType<typeof workflowsOf>

export function workflowsOf(workspace: Workspace) {
  const overview = ({ state }: { state: SessionState }) => overviewOf(workspace, state)
  return {
    begin: async (begin: BeginWorkflowOptions) => overview(await beginWorkflow(workspace, begin)),
    phase: async (phase: PhaseOptions) => overview(await enterPhase(workspace, phase)),
    approve: async (approve: ApproveOptions) => overview(await approvePhase(workspace, approve)),
    set: async (set: SetWorkflowOptions) => overview(await setOnWorkflow(workspace, set)),
    status: (name?: string) => workflowStatus(workspace, name),
    list: () => listWorkflowOverviews(workspace),
    recover: (recover: RecoverOptions) => recoverWorkflow(workspace, recover),
    templates: () => workflowTemplates(workspace),
    template: (name: string) => templateText(workspace, name),
  }
}

const KEYS = ['deliverables', 'name', 'focus'] as const

export interface SetWorkflowOptions {
  readonly workflow: string
  readonly key: string
  readonly value: string
  readonly remove?: boolean
  readonly by?: string
}

async function setOnWorkflow(
  workspace: Workspace,
  options: SetWorkflowOptions,
): Promise<SessionReading> {
  if (!KEYS.some((key) => key === options.key))
    throw new StintError(
      'NO_SUCH_KEY',
      `a workflow has no "${options.key}" to set`,
      `there are ${KEYS.join(', ')}`,
    )
  const { session, workflow } = await openWorkflow(workspace, options.workflow)
  try {
    session.append([settingDraft(workspace, workflow, options)])
    return await workspace.refreshIfPossible(session)
  } finally {
    session.close()
  }
}

function settingDraft(workspace: Workspace, workflow: Workflow, options: SetWorkflowOptions) {
  const { key, remove = false } = options
  const by = options.by ?? 'library'
  const text = oneLine(options.value)
  if (key === 'focus') return draftEntry('focus.set', { text: remove ? '' : text }, { by })
  if (text === '')
    throw new StintError(
      'EMPTY_TEXT',
      `${key} is empty`,
      `stint workflow set ${workflow.id} ${key} VALUE`,
    )
  if (key === 'deliverables') return deliverableDraft(workspace, workflow, text, remove, by)
  if (!remove) return draftEntry('session.titled', { title: text }, { by })
  throw new StintError(
    'NOT_REMOVABLE',
    'a workflow always has a name',
    `stint workflow set ${workflow.id} name NAME`,
  )
}

function deliverableDraft(
  workspace: Workspace,
  workflow: Workflow,
  text: string,
  remove: boolean,
  by: string,
) {
  const path = pathInProject(workspace, text)
  const known = workflow.deliverables.map((one) => one.path)
  if (remove) {
    if (known.includes(path)) return draftEntry('deliverable.dropped', { path }, { by })
    const hint = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
    throw new StintError('NO_DELIVERABLE', `${workflow.id} has no deliverable ${path}`, hint)
  }
  if (!known.includes(path) && known.length >= MAX_DELIVERABLES)
    throw new StintError(
      'TOO_MANY',
      `${workflow.id} has ${known.length} deliverables`,
      'name the folder that holds them instead',
    )
  return draftEntry('deliverable.set', { path, phase: workflow.current }, { by })
}

/** Relative to the worktree's root. */
function pathInProject(workspace: Workspace, path: string) {
  const root = workingFolder(workspace.paths)
  const within = relative(root, resolve(realpathSync(workspace.cwd), path))
    .split(sep)
    .join('/')
  if (within !== '' && isProjectRelative(within)) return within
  throw new StintError(
    'OUTSIDE_PROJECT',
    `${path} is not in ${root}`,
    'a deliverable is a file or a folder of the project',
  )
}
