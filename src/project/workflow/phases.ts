import { StintError } from '../../journal/errors.ts'
import { type Draft, draft } from '../../session/entries.ts'
import {
  type Phase,
  type Place,
  type Workflow,
  closedGates,
  currentPlace,
  indexOfPlace,
  isApproved,
  nextPlace,
  placesOf,
} from '../../session/kinds/phases.ts'
import { oneLine } from '../../text/clean.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import type { SessionState } from '../../session/state.ts'
import { checkpointDrafts } from '../lifecycle/checkpoint.ts'
import { chooseSession, refuseClosed } from '../store/choose.ts'

export interface PhaseOptions {
  readonly workflow: string
  /** By number or name; default: the next to enter, the current to approve. */
  readonly phase?: string
  readonly note?: string
  readonly by?: string
}

type Opened = Awaited<ReturnType<typeof openWorkflow>>

/** Without a next phase, the last is finished. */
export async function enterPhase(workspace: Workspace, options: PhaseOptions): Promise<Reading> {
  const opened = await openWorkflow(workspace, options.workflow)
  const { session, state, workflow } = opened
  const wanted =
    options.phase === undefined ? nextPlace(workflow) : findPhase(workflow, options.phase)
  if (wanted === undefined) return finishLast(workspace, opened, options)
  const [gate] = closedGates(workflow, indexOfPlace(workflow.phases, wanted.place.id))
  if (gate !== undefined) {
    // From now on the workflow waits for approval.
    if (isAtEndOf(opened, gate) && gate.finishedAt === undefined)
      await finish(workspace, opened, options)
    else session.close()
    throw gateClosed(opened, gate)
  }
  const by = options.by ?? 'library'
  const entered = draft(
    'phase.entered',
    { phase: wanted.place.id, ...noted(options), ...gitNow(workspace) },
    { by },
  )
  return appendWithCheckpoint(workspace, session, state, [entered], {
    by,
    note: checkpointNote(wanted.place, options.note),
  })
}

function isAtEndOf({ workflow }: Opened, { id }: Phase): boolean {
  const here = currentPlace(workflow)
  return here.phase.id === id && here.isLastOfPhase
}

function gateClosed(opened: Opened, gate: Phase): StintError {
  const { name } = opened.state
  const approve = `stint workflow approve ${name} ${gate.id}`
  return new StintError(
    'GATE_CLOSED',
    `phase ${placeText(gate)} waits for a person's approval; what comes after it is not entered before`,
    isAtEndOf(opened, gate)
      ? `whoever has looked at it runs: ${approve}`
      : `stint workflow phase ${name} ${endOf(opened, gate).id} enters it; whoever has looked at it then runs: ${approve}`,
  )
}

async function finishLast(
  workspace: Workspace,
  opened: Opened,
  options: PhaseOptions,
): Promise<Reading> {
  const { session, state, workflow } = opened
  const { phase } = currentPlace(workflow)
  if (phase.status === 'current') return finish(workspace, opened, options)
  session.close()
  if (phase.status !== 'done') throw gateClosed(opened, phase)
  throw new StintError(
    'WORKFLOW_ENDED',
    `every phase of ${state.name} is done`,
    `stint close --complete --session ${state.name} ends the session`,
  )
}

function finish(
  workspace: Workspace,
  { session, state, workflow }: Opened,
  options: PhaseOptions,
): Promise<Reading> {
  const by = options.by ?? 'library'
  const { phase } = currentPlace(workflow)
  const finished = draft(
    'phase.finished',
    { phase: phase.id, ...noted(options), ...gitNow(workspace) },
    { by },
  )
  const note = checkpointNote(phase, options.note ?? 'finished')
  return appendWithCheckpoint(workspace, session, state, [finished], { by, note })
}

export interface ApproveOptions extends PhaseOptions {
  /** The person's words, passed on by someone else. */
  readonly said?: string
}

/** Only a person approves; an agent can pass on their words. */
export async function approvePhase(
  workspace: Workspace,
  options: ApproveOptions,
): Promise<Reading> {
  const said = options.said === undefined ? undefined : oneLine(options.said)
  if (said === '')
    throw new StintError(
      'EMPTY_TEXT',
      'the words of the person are empty',
      '--person-said "Looks good, go on"',
    )
  if (said === undefined && isAgent(workspace.env)) {
    throw new StintError(
      'PERSON_NEEDED',
      "an approval is a person's: run it in your own terminal",
      'where the person has approved it in the conversation, their words are passed on with --person-said "…"',
    )
  }
  const opened = await openWorkflow(workspace, options.workflow)
  const { session, state, workflow } = opened
  const phase =
    options.phase === undefined ? currentPlace(workflow).phase : wholePhase(opened, options.phase)
  if (isApproved(workflow, phase.id)) {
    throw new StintError(
      'ALREADY_APPROVED',
      `phase ${placeText(phase)} is approved already`,
      `stint workflow phase ${state.name} goes on`,
    )
  }
  const end = endOf(opened, phase)
  if (indexOfPlace(workflow.phases, end.id) > indexOfPlace(workflow.phases, workflow.current)) {
    throw new StintError(
      'NOT_REACHED',
      `${state.name} is in phase ${placeText(currentPlace(workflow).place)}, not yet at the end of ${placeText(phase)}`,
      `stint workflow phase ${state.name} ${end.id} enters ${end.id === phase.id ? 'it' : 'its last part'}`,
    )
  }
  const by = options.by ?? 'library'
  const approved = draft(
    'phase.approved',
    { phase: phase.id, ...noted(options), ...defined({ said }) },
    { by },
  )
  const note = checkpointNote(
    phase,
    options.note === undefined ? 'approved' : `approved, ${options.note}`,
  )
  return appendWithCheckpoint(workspace, session, state, [approved], { by, note })
}

/** Whole phases are approved, not their parts, so only these can be named. */
function wholePhase({ workflow }: Opened, wanted: string): Phase {
  const { id } = findPhase(
    { ...workflow, phases: workflow.phases.map((phase) => ({ ...phase, subPhases: [] })) },
    wanted,
  ).phase
  return workflow.phases.find((phase) => phase.id === id)!
}

function endOf({ workflow }: Opened, phase: Phase): Place['place'] {
  return placesOf(workflow.phases).findLast((one) => one.phase.id === phase.id)!.place
}

// Set by the harness or our hooks in an agent's shell.
function isAgent(env: NodeJS.ProcessEnv): boolean {
  return [env.CLAUDECODE, env.STINT_CONVERSATION, env.CLAUDE_CODE_SESSION_ID].some(
    (mark) => mark !== undefined && mark !== '',
  )
}

// If the journal is lost, this note shows how far the work was.
function checkpointNote(
  { id, name }: { readonly id: string; readonly name: string },
  note: string | undefined,
): string {
  return `Phase ${id} - ${name}${note === undefined ? '' : `: ${note}`}`
}

function gitNow(workspace: Workspace) {
  const git = workspace.git({ dirty: true })
  return git === undefined ? {} : { git }
}

function noted({ note }: PhaseOptions): { note?: string } {
  return note === undefined ? {} : { note }
}

export async function openWorkflow(workspace: Workspace, name: string) {
  const row = await chooseSession(workspace, name)
  refuseClosed(row)
  const session = workspace.session(row.id)
  const { state } = await workspace.absorbEdits(session)
  if (state.workflow === undefined) throw followsNone(state)
  return { session, state, workflow: state.workflow }
}

export function followsNone({ name }: { readonly name: string }): StintError {
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
  drafts: readonly Draft[],
  options: { by: string; note: string },
): Promise<Reading> {
  // Minted first, or they would seem to follow the checkpoint.
  const minted = drafts.map((one) => ({ ...one, id: session.mint() }))
  session.append([...minted, ...checkpointDrafts(workspace, session, state, options)])
  const reading = await workspace.refreshIfPossible(session)
  session.close()
  return reading
}

/** By id, name, or a unique part of the name. */
export function findPhase(workflow: Pick<Workflow, 'id' | 'phases'>, wanted: string): Place {
  const text = wanted
    .trim()
    .toLowerCase()
    .replace(/^phase\s+/, '')
  const places = placesOf(workflow.phases)
  // A phase that has sub-phases is entered at its first.
  const named = places.flatMap((one) => [
    { one, names: [one.place.id, one.place.name] },
    ...(places.find(({ phase }) => phase.id === one.phase.id) === one
      ? [{ one, names: [one.phase.id, one.phase.name] }]
      : []),
  ])
  const exact = named.find(({ names }) => names.some((name) => name.toLowerCase() === text))
  if (exact !== undefined) return exact.one
  const alike = new Set(
    named
      .filter(({ names }) => text !== '' && names[1]!.toLowerCase().includes(text))
      .map(({ one }) => one),
  )
  const [first] = alike
  if (first !== undefined && alike.size === 1) return first
  const problem =
    alike.size > 1
      ? `"${wanted}" fits several phases of ${workflow.id}`
      : `${workflow.id} has no phase "${wanted}"`
  const all = workflow.phases.flatMap((phase) => [phase, ...phase.subPhases])
  throw new StintError('NO_PHASE', problem, `there are ${all.map(placeText).join(', ')}`)
}

/** `5b TDD GREEN` */
export function placeText({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${id} ${name}`
}
