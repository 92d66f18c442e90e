import { StintError } from '../../journal/errors.ts'
import type { SessionState } from '../../session/state.ts'
import { type ExportFormat, EXPORT_FORMATS } from '../../document/export/formats.ts'
import { COMPLEX_FROM, type WorkSource, workSize } from '../../document/export/work.ts'
import { modelOf } from '../../document/model.ts'
import { renderModel } from '../../document/render.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { chooseSession } from '../store/choose.ts'
import { redactedForExport } from '../store/clean-draft.ts'
import { workSourceOf } from './source.ts'
import { exportTarget } from './target.ts'
import { writeExport } from './write-export.ts'
import type { Reading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface ExportOptions {
  readonly session?: string
  readonly format: ExportFormat
  /** The file to write; without it the content is only answered. */
  readonly output?: string
  /** Overwrites a file that no export wrote, and writes a session.json of a session that has no need of one. */
  readonly force?: boolean
}

export interface Exported {
  readonly session: Pick<SessionState, 'id' | 'name' | 'status'>
  readonly format: ExportFormat
  readonly content: string
  /** The file that was written. */
  readonly path?: string
}

/** Gives a session out in another form, and writes it to a file when asked to. */
export async function exportSession(
  workspace: Workspace,
  options: ExportOptions,
): Promise<Exported> {
  const { format, output, force = false } = options
  if (!EXPORT_FORMATS.includes(format)) {
    throw new StintError(
      'NO_FORMAT',
      `there is no format "${String(format)}"`,
      `there are ${EXPORT_FORMATS.join(', ')}`,
    )
  }
  const row = await chooseSession(workspace, options.session)
  // Before the work: a name that cannot be written is known at once.
  const path = output === undefined ? undefined : exportTarget(workspace, output)
  const session = workspace.session(row.id)
  const reading = await workspace.refreshIfPossible(session)
  session.close()
  const content = await contentOf(workspace, reading, format, path !== undefined && !force)
  if (path !== undefined) writeExport(workspace, path, content, { session: row.id, format, force })
  const { id, name, status } = reading.state
  return { session: { id, name, status }, format, content, ...defined({ path }) }
}

async function contentOf(
  workspace: Workspace,
  reading: Reading,
  format: ExportFormat,
  isFileWeighed: boolean,
): Promise<string> {
  if (format === 'session-json') {
    const { renderSessionJson } = await import('../../document/export/session-json.ts')
    const source = await workSourceOf(workspace, reading)
    if (isFileWeighed) refuseSmall(source)
    return renderSessionJson(source)
  }
  if (format === 'workflow-log') {
    const { renderWorkflowLog } = await import('../../document/export/workflow-log.ts')
    return renderWorkflowLog(await workSourceOf(workspace, reading))
  }
  const { state } = redactedForExport(workspace, { state: reading.state })
  if (format === 'json') return renderStateJson(state)
  return format === 'toon' ? renderStateToon(state) : renderModel(modelOf(state))
}

/** A file that repeats what is recorded goes stale; below a certain size nobody gains anything by it. */
function refuseSmall(source: WorkSource): void {
  const size = workSize(source)
  if (size >= COMPLEX_FROM) return
  throw new StintError(
    'EXPORT_TOO_SMALL',
    `${source.state.name} has ${size} task${size === 1 ? '' : 's'}, and a session.json is worth its upkeep from ${COMPLEX_FROM} on: it says again what is recorded, and is out of date with the next entry`,
    '--force writes it all the same; without --output it is printed',
  )
}
