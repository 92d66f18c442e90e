import { NotWritten, StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import type { SessionState } from '../../session/state.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../document/export/formats.ts'
import { COMPLEX_FROM, type WorkSource, workSize } from '../../document/export/work.ts'
import { modelOf } from '../../document/model.ts'
import { renderModel } from '../../document/render.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { chooseSession } from '../store/choose.ts'
import { redactedForExport } from '../store/clean-draft.ts'
import { workSourceOf } from './source.ts'
import { exportTarget } from './target.ts'
import type { Reading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { closeSync, fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFile, createFolder, openToRead, replaceOpenFile } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'
import { type WrittenExport, isExport, noteExport, sumOf } from './written.ts'

export interface ExportOptions {
  readonly session?: string
  readonly format: ExportFormat
  /** Without it the content is only returned. */
  readonly output?: string
  /** Overwrites a foreign file, and writes session.json for a small session. */
  readonly force?: boolean
}

export interface Exported {
  readonly session: Pick<SessionState, 'id' | 'name' | 'status'>
  readonly format: ExportFormat
  readonly content: string
  readonly path?: string
}

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
  // A bad path fails before the work.
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

/** A small session gains nothing from a file that goes stale. */
function refuseSmall(source: WorkSource): void {
  const size = workSize(source)
  if (size >= COMPLEX_FROM) return
  throw new StintError(
    'EXPORT_TOO_SMALL',
    `${source.state.name} has ${size} task${size === 1 ? '' : 's'}, and a session.json is worth its upkeep from ${COMPLEX_FROM} on: it says again what is recorded, and is out of date with the next entry`,
    '--force writes it all the same; without --output it is printed',
  )
}

const ROUNDS = 20

/** A foreign file is left alone without `force`; of two concurrent writers one wins as a whole. */
function writeExport(
  workspace: Workspace,
  path: string,
  text: string,
  about: Pick<WrittenExport, 'session' | 'format'> & { readonly force: boolean },
): void {
  const bytes = Buffer.from(text)
  try {
    createFolder(dirname(path))
    for (let round = 1; !isPlaced(workspace, path, bytes, about); round += 1) {
      if (round === ROUNDS)
        throw new StintError(
          'EXPORT_BUSY',
          `${path} keeps being replaced by other programs`,
          'run it again',
        )
    }
  } catch (cause) {
    if (cause instanceof StintError || errnoOf(cause) === undefined) throw cause
    throw new NotWritten(path, cause)
  }
}

/** False when the path came to mean another file. */
function isPlaced(
  workspace: Workspace,
  path: string,
  bytes: Buffer,
  {
    session,
    format,
    force,
  }: Pick<WrittenExport, 'session' | 'format'> & { readonly force: boolean },
): boolean {
  const fd = openIfThere(path)
  try {
    if (fd !== undefined && !force && !isOurs(workspace, path, fd, bytes)) throw foreign(path)
    noteExport(workspace, { path, session, format, sum: sumOf(bytes) })
    return fd === undefined ? createFile(path, bytes) : replaceOpenFile(path, fd, bytes)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function isOurs(workspace: Workspace, path: string, fd: number, wanted: Buffer): boolean {
  const standing = readRange(fd, 0, fstatSync(fd).size)
  return standing.equals(wanted) || isExport(workspace, path, standing)
}

function openIfThere(path: string): number | undefined {
  try {
    return openToRead(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function foreign(path: string): StintError {
  return new StintError(
    'EXPORT_EXISTS',
    `${path} was not written by an export, or was changed since`,
    '--force overwrites it; or name another file',
  )
}
