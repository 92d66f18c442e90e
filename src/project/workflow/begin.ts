import { relative } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { type EntryDraft, type WorkflowTemplate, draftEntry } from '../../session/entries.ts'
import { type SessionState, isSessionOpen } from '../../session/state.ts'
import { oneLine, slug } from '../../text/clean.ts'
import { findSession, refuseClosed } from '../store/choose-session.ts'
import type { SessionReading } from '../store/live-session.ts'
import { type InitOptions, initSession } from '../lifecycle/init-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { NeedsConsent, isAgreedFile } from '../trust/trust.ts'
import { appendWithCheckpoint } from './phases.ts'
import { defined } from '../../text/defined.ts'
import {
  DEFAULT_TEMPLATE,
  type TemplateSource,
  findTemplate,
  listTemplates,
  loadTemplate,
} from '../../backlog/workflow/templates.ts'

export interface BeginWorkflowOptions {
  /** The short name of the session. */
  readonly id: string
  readonly name: string
  /** A name or a path. */
  readonly template?: string
  /** An open session to adopt. */
  readonly session?: string
  readonly goal?: string
  readonly by?: string
}

export async function beginWorkflow(
  workspace: Workspace,
  options: BeginWorkflowOptions,
): Promise<SessionReading> {
  const { id, goal } = options
  const name = oneLine(options.name)
  refuseBadId(id)
  if (name === '')
    throw new StintError(
      'NEEDS_NAME',
      'a workflow needs a name',
      `stint workflow init ${id} "User auth"`,
    )
  const template = templateFor(workspace, options.template)
  const by = options.by ?? 'library'
  const adopted =
    options.session === undefined ? undefined : await findSession(workspace, options.session)
  await refuseExisting(workspace, id, adopted?.id)
  const begun = draftEntry('workflow.begun', { workflow: id, name, template }, { by })
  if (adopted === undefined) {
    return startWorkflow(workspace, { name: id, title: name, by, ...defined({ goal }) }, [begun])
  }
  refuseClosed(adopted)
  const session = workspace.session(adopted.id)
  const { state } = await workspace.absorbEdits(session)
  if (state.workflow !== undefined) throw alreadyFollowsTemplate(state)
  const drafts: EntryDraft[] = [
    ...(adopted.name === id ? [] : [draftEntry('session.renamed', { name: id }, { by })]),
    draftEntry('session.titled', { title: name }, { by }),
    ...(goal === undefined ? [] : [draftEntry('goal.set', { text: goal }, { by })]),
    begun,
  ]
  return appendWithCheckpoint(workspace, session, state, drafts, { by, note: BEGUN_NOTE })
}

const BEGUN_NOTE = 'Before the first phase'

export async function startWorkflow(
  workspace: Workspace,
  init: InitOptions & { by: string },
  drafts: readonly EntryDraft[],
): Promise<SessionReading> {
  try {
    const { state } = (await initSession(workspace, init, drafts)).reading
    return await appendWithCheckpoint(workspace, workspace.session(state.id), state, [], {
      by: init.by,
      note: BEGUN_NOTE,
    })
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'SESSION_ACTIVE') throw error
    const hint =
      'stint pause sets it down; stint workflow init … --session NAME gives it the phases instead'
    throw new StintError(error.code, error.message, hint, { cause: error })
  }
}

/** The id is used as it is: people and commits name it. */
export function refuseBadId(id: string): void {
  if (slug(id) === id) return
  throw new StintError(
    'BAD_WORKFLOW_ID',
    `"${id}" cannot be the id of a workflow`,
    `${slug(id)} can: small letters and digits, joined by dashes, at most 40 characters`,
  )
}

async function refuseExisting(workspace: Workspace, id: string, adopted: string | undefined) {
  const rows = workspace.hasSessions() ? (await workspace.index()).findByNameOrId(id) : []
  const taken = rows.find((row) => row.name === id && row.id !== adopted)
  if (taken === undefined) return
  if (!isSessionOpen(taken))
    throw new StintError(
      'WORKFLOW_EXISTS',
      `there is a session ${id} already; it is ${taken.status}`,
      `stint reopen ${id} takes that back; or choose another id`,
    )
  const state = workspace.stateOf(taken.id)
  if (state.workflow !== undefined) throw alreadyFollowsTemplate(state)
  throw new StintError(
    'WORKFLOW_EXISTS',
    `there is a session ${id} already, which follows no template`,
    `stint workflow init ${id} "NAME" --session ${id} lets it follow one; or choose another id`,
  )
}

function alreadyFollowsTemplate({ name, workflow }: SessionState) {
  return new StintError(
    'WORKFLOW_EXISTS',
    `${name} follows the template ${workflow!.templateName} already`,
    `stint workflow status ${name} shows where it is`,
  )
}

export function templateFor(workspace: Workspace, wanted = DEFAULT_TEMPLATE): WorkflowTemplate {
  const folders = templateFolders(workspace)
  const found = findTemplate(wanted, folders)
  const { root } = workspace.paths
  const name = found.path === undefined ? undefined : relative(root, found.path)
  if (name?.startsWith('.sessions') === true && !isAgreedFile(root, name, found.text))
    throw new NeedsConsent(root, [name])
  return loadTemplate(found, folders)
}

/** Throws when the template is invalid. */
export function templateText(workspace: Workspace, wanted: string): TemplateSource {
  const folders = templateFolders(workspace)
  const found = findTemplate(wanted, folders)
  loadTemplate(found, folders)
  return found
}

export function workflowTemplates(workspace: Workspace): readonly TemplateSource[] {
  return listTemplates(templateFolders(workspace))
}

function templateFolders({ paths, cwd }: Workspace) {
  return { sessions: paths.sessions, cwd }
}
