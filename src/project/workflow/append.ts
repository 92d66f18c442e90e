import { StintError } from '../../journal/errors.ts'
import type { Draft } from '../../session/entries.ts'
import type { SessionState } from '../../session/state.ts'
import { checkpointDrafts } from '../lifecycle/checkpoint.ts'
import { chooseSession, refuseClosed } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'

/** The workflow of a session, ready to be written to. */
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

/** Writes entries, and a checkpoint with them: whatever a phase left behind can be had back. */
export async function appendWithCheckpoint(
  workspace: Workspace,
  session: LiveSession,
  state: SessionState,
  drafts: readonly Draft[],
  options: { by: string; note: string },
): Promise<Reading> {
  // Minted before the checkpoint's own ids, or it would seem to be made before what it is made for.
  const minted = drafts.map((one) => ({ ...one, id: session.mint() }))
  session.append([...minted, ...checkpointDrafts(workspace, session, state, options)])
  const reading = await workspace.refreshIfPossible(session)
  session.close()
  return reading
}
