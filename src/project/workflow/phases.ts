import { StintError } from '../../journal/errors.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import {
  type Deliverable,
  type Phase,
  type LeafPhase,
  type Workflow,
  closedGates,
  conversationGroups,
  currentLeaf,
  leafIndex,
  isApproved,
  isAtConversationSplit,
  nextLeaf,
  leafPhases,
} from '../../session/kinds/phases.ts'
import type { SessionState } from '../../session/state.ts'
import { oneLine } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { checkpointDrafts } from '../lifecycle/checkpoint.ts'
import { chooseOpenSession, chooseSession } from '../store/choose-session.ts'
import type { LiveSession, SessionReading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isProjectRelative } from '../../backlog/workflow/templates.ts'
import { workingFolder } from '../store/project-paths.ts'

export interface PhaseOptions {
  readonly workflow: string
  /** By number or name; default: the next to enter, the current to approve. */
  readonly phase?: string
  readonly note?: string
  readonly by?: string
}

type OpenedWorkflow = Awaited<ReturnType<typeof openWorkflow>>

/** Without a next phase, the last is finished. */
export async function enterPhase(
  workspace: Workspace,
  options: PhaseOptions,
): Promise<SessionReading> {
  const opened = await openWorkflow(workspace, options.workflow)
  const { session, state, workflow } = opened
  const current = currentLeaf(workflow)
  const wanted =
    options.phase === undefined ? nextLeaf(workflow) : findPhase(workflow, options.phase)
  if (wanted === undefined) {
    if (current.phase.status === 'current') return finishPhase(workspace, opened, options)
    session.close()
    if (current.phase.status !== 'done') throw gateClosed(opened, current.phase)
    throw new StintError(
      'WORKFLOW_ENDED',
      `every phase of ${state.name} is done`,
      `stint close --complete --session ${state.name} ends the session`,
    )
  }
  const [gate] = closedGates(workflow, leafIndex(workflow.phases, wanted.leaf.id))
  if (gate !== undefined) {
    // From now on the workflow waits for approval.
    if (isAtEndOf(opened, gate) && gate.finishedAt === undefined)
      await finishPhase(workspace, opened, options)
    else session.close()
    throw gateClosed(opened, gate)
  }
  const { id } = wanted.leaf
  const { note } = options
  const entered = { phase: id, ...defined({ note, git: workspace.git({ dirty: true }) }) }
  return appendPhase(workspace, opened, options, wanted.leaf, note, (by) =>
    draftEntry('phase.entered', entered, { by }),
  )
}

function isAtEndOf({ workflow }: OpenedWorkflow, { id }: Phase) {
  const current = currentLeaf(workflow)
  return current.phase.id === id && current.isLastOfPhase
}

function gateClosed(opened: OpenedWorkflow, gate: Phase) {
  const { name } = opened.state
  const approve = `stint workflow approve ${name} ${gate.id}`
  return new StintError(
    'GATE_CLOSED',
    `phase ${phaseLabel(gate)} waits for a person's approval; what comes after it is not entered before`,
    isAtEndOf(opened, gate)
      ? `whoever has looked at it runs: ${approve}`
      : `stint workflow phase ${name} ${lastLeaf(opened, gate).id} enters it; whoever has looked at it then runs: ${approve}`,
  )
}

function finishPhase(workspace: Workspace, opened: OpenedWorkflow, options: PhaseOptions) {
  const { phase } = currentLeaf(opened.workflow)
  const { note } = options
  const finished = { phase: phase.id, ...defined({ note, git: workspace.git({ dirty: true }) }) }
  return appendPhase(workspace, opened, options, phase, note ?? 'finished', (by) =>
    draftEntry('phase.finished', finished, { by }),
  )
}

export interface ApproveOptions extends PhaseOptions {
  /** The person's words, passed on by an agent. */
  readonly said?: string
}

/** Only a person approves; an agent can pass on their words. */
export async function approvePhase(
  workspace: Workspace,
  options: ApproveOptions,
): Promise<SessionReading> {
  const { note } = options
  const said = options.said === undefined ? undefined : oneLine(options.said)
  if (said === '')
    throw new StintError(
      'EMPTY_TEXT',
      'the words of the person are empty',
      '--person-said "Looks good, go on"',
    )
  if (said === undefined && isAgent(workspace.env))
    throw new StintError(
      'PERSON_NEEDED',
      "an approval is a person's: run it in your own terminal",
      'where the person has approved it in the conversation, their words are passed on with --person-said "…"',
    )
  const opened = await openWorkflow(workspace, options.workflow)
  const { state, workflow } = opened
  const current = currentLeaf(workflow)
  const phase = options.phase === undefined ? current.phase : findMainPhase(workflow, options.phase)
  if (isApproved(workflow, phase.id))
    throw new StintError(
      'ALREADY_APPROVED',
      `phase ${phaseLabel(phase)} is approved already`,
      `stint workflow phase ${state.name} goes on`,
    )
  const end = lastLeaf(opened, phase)
  if (leafIndex(workflow.phases, end.id) > leafIndex(workflow.phases, workflow.current))
    throw new StintError(
      'NOT_REACHED',
      `${state.name} is in phase ${phaseLabel(current.leaf)}, not yet at the end of ${phaseLabel(phase)}`,
      `stint workflow phase ${state.name} ${end.id} enters ${end.id === phase.id ? 'it' : 'its last part'}`,
    )
  const why = note === undefined ? 'approved' : `approved, ${note}`
  return appendPhase(workspace, opened, options, phase, why, (by) =>
    draftEntry('phase.approved', { phase: phase.id, ...defined({ note, said }) }, { by }),
  )
}

/** Only phases are approved, not sub-phases. */
function findMainPhase(workflow: Workflow, wanted: string) {
  const phases = workflow.phases.map((phase) => ({ ...phase, subPhases: [] }))
  const { id } = findPhase({ ...workflow, phases }, wanted).phase
  return workflow.phases.find((phase) => phase.id === id)!
}

function lastLeaf({ workflow }: OpenedWorkflow, phase: Phase) {
  return leafPhases(workflow.phases).findLast((one) => one.phase.id === phase.id)!.leaf
}

// Set by the harness or our hooks in an agent's shell.
function isAgent(env: NodeJS.ProcessEnv) {
  return [env.CLAUDECODE, env.STINT_CONVERSATION, env.CLAUDE_CODE_SESSION_ID].some(
    (mark) => mark !== undefined && mark !== '',
  )
}

function appendPhase(
  workspace: Workspace,
  { session, state }: OpenedWorkflow,
  { by = 'library' }: PhaseOptions,
  { id, name }: { id: string; name: string },
  reason: string | undefined,
  entry: (by: string) => EntryDraft,
) {
  // If the journal is lost, this note tells recovery the phase.
  const note = `Phase ${id} - ${name}${reason === undefined ? '' : `: ${reason}`}`
  return appendWithCheckpoint(workspace, session, state, [entry(by)], { by, note })
}

export async function openWorkflow(workspace: Workspace, name: string) {
  const { id } = await chooseOpenSession(workspace, name)
  const session = workspace.session(id)
  const { state } = await workspace.absorbEdits(session)
  if (state.workflow === undefined) throw noWorkflowError(state)
  return { session, state, workflow: state.workflow }
}

function noWorkflowError({ name }: { name: string }): StintError {
  return new StintError(
    'NO_WORKFLOW',
    `the session ${name} follows no template`,
    `stint workflow init ${name} "NAME" --session ${name} gives it one; stint workflow list shows those that do`,
  )
}

export async function appendWithCheckpoint(
  workspace: Workspace,
  session: LiveSession,
  state: SessionState,
  drafts: readonly EntryDraft[],
  options: { by: string; note: string },
): Promise<SessionReading> {
  // Minted first, or they would seem to follow the checkpoint.
  const minted = drafts.map((one) => ({ ...one, id: session.mint() }))
  session.append([...minted, ...checkpointDrafts(workspace, session, state, options)])
  const reading = await workspace.refreshIfPossible(session)
  session.close()
  return reading
}

/** By id, name, or a unique part of the name. */
export function findPhase(workflow: Pick<Workflow, 'id' | 'phases'>, wanted: string): LeafPhase {
  const text = wanted
    .trim()
    .toLowerCase()
    .replace(/^phase\s+/, '')
  const leaves = leafPhases(workflow.phases)
  // A phase with sub-phases is entered at its first.
  const named = leaves.flatMap((one) => [
    { one, ...one.leaf },
    ...(leaves.find(({ phase }) => phase.id === one.phase.id) === one
      ? [{ one, ...one.phase }]
      : []),
  ])
  const exact = named.find(({ id, name }) => [id, name].some((it) => it.toLowerCase() === text))
  if (exact !== undefined) return exact.one
  const partial = new Set(
    named.flatMap(({ one, name }) =>
      text !== '' && name.toLowerCase().includes(text) ? [one] : [],
    ),
  )
  const [first] = partial
  if (first !== undefined && partial.size === 1) return first
  const problem =
    first === undefined
      ? `${workflow.id} has no phase "${wanted}"`
      : `"${wanted}" fits several phases of ${workflow.id}`
  const all = workflow.phases.flatMap((phase) => [phase, ...phase.subPhases])
  throw new StintError('NO_PHASE', problem, `there are ${all.map(phaseLabel).join(', ')}`)
}

/** `5b TDD GREEN` */
function phaseLabel({ id, name }: { id: string; name: string }): string {
  return `${id} ${name}`
}

export interface WorkflowOverview {
  readonly state: SessionState
  readonly workflow: Workflow
  readonly deliverables: readonly (Deliverable & { readonly exists: boolean })[]
  readonly conversation?: {
    readonly name: string
    readonly number: number
    readonly of: number
    readonly tokens?: readonly [number, number]
  }
  /** A fresh conversation should begin here. */
  readonly splitHere: boolean
  readonly next: NextAction
}

export interface NextAction {
  readonly text: string
  readonly command: string
  readonly who: 'person' | 'anybody'
}

export function overviewOf(workspace: Workspace, state: SessionState): WorkflowOverview {
  const { workflow } = state
  if (workflow === undefined) throw noWorkflowError(state)
  const root = workingFolder(workspace.paths)
  const conversation = currentConversation(workflow)
  return {
    state,
    workflow,
    // A journal may come from elsewhere: only paths inside the project are checked.
    deliverables: workflow.deliverables.map((one) => ({
      ...one,
      exists: isProjectRelative(one.path) && existsSync(join(root, one.path)),
    })),
    ...defined({ conversation }),
    splitHere: isAtConversationSplit(state),
    next: nextAction(state, workflow),
  }
}

function currentConversation(workflow: Workflow) {
  const { phase } = currentLeaf(workflow)
  const groups = conversationGroups(workflow)
  const index = groups.findIndex(({ name }) => name === phase.conversation)
  const group = groups[index]
  if (group === undefined) return undefined
  const { name, tokens } = group
  return { name, number: index + 1, of: groups.length, ...defined({ tokens }) }
}

function nextAction(state: SessionState, workflow: Workflow): NextAction {
  const { name } = state
  if (state.status === 'completed' || state.status === 'abandoned')
    return { text: `it is ${state.status}`, command: `stint reopen ${name}`, who: 'anybody' }
  const { phase, leaf, isLastOfPhase } = currentLeaf(workflow)
  const next = nextLeaf(workflow)
  if (phase.status === 'waiting for approval')
    return {
      text: `approve phase ${phaseLabel(phase)}`,
      command: `stint workflow approve ${name} ${phase.id}`,
      who: 'person',
    }
  const command = `stint workflow phase ${name}`
  if (phase.status === 'done') {
    if (next === undefined)
      return {
        text: 'end the session',
        command: `stint close --complete --session ${name}`,
        who: 'anybody',
      }
    return { text: `enter phase ${phaseLabel(next.leaf)}`, command, who: 'anybody' }
  }
  const then =
    isLastOfPhase && phase.gate === 'approval'
      ? 'have it approved'
      : next === undefined
        ? 'end it'
        : `enter ${phaseLabel(next.leaf)}`
  return { text: `finish phase ${phaseLabel(leaf)}, then ${then}`, command, who: 'anybody' }
}

export async function workflowStatus(
  workspace: Workspace,
  name?: string,
): Promise<WorkflowOverview> {
  const { id } = await chooseSession(workspace, name)
  return overviewOf(workspace, (await workspace.view(id)).state)
}

export async function listWorkflowOverviews(
  workspace: Workspace,
): Promise<readonly WorkflowOverview[]> {
  if (!workspace.hasSessions()) return []
  const rows = [...(await workspace.index()).sessions({ kind: 'workflow.begun' })]
  return rows.flatMap(({ id }) => {
    const state = workspace.stateOf(id)
    return state.workflow === undefined ? [] : [overviewOf(workspace, state)]
  })
}
