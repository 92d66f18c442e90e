import { StintError } from '../../journal/errors.ts'
import type { Draft } from '../../session/entries.ts'
import type { SessionState } from '../../session/state.ts'
import { checkpointDrafts } from '../lifecycle/checkpoint.ts'
import { chooseSession, refuseClosed } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { type Place, type Workflow, placesOf } from '../../session/kinds/phases.ts'

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
