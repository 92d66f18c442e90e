import { isOwnLog } from '../../journal/log.ts'
import { printable } from '../../text/printable.ts'
import { isWithin, logPaths, workingFolder } from '../store/project-paths.ts'
import { NotWritten, StintError, errnoOf, messageOf } from '../../journal/errors.ts'
import type { SessionState } from '../../session/state.ts'
import {
  COMPLEX_FROM,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportSource,
  workSize,
} from '../../document/export/collect-work.ts'
import { modelOf } from '../../document/model.ts'
import { renderModel } from '../../document/render.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { chooseSession } from '../store/choose-session.ts'
import { redactedForExport } from '../store/clean-draft.ts'
import { workSourceOf } from './work-source.ts'
import { type SessionReading, nameForFiles } from '../store/live-session.ts'
import { openIfPresent } from '../store/open-if-present.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { closeSync, existsSync, fstatSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import {
  OPEN_TO_OTHERS,
  createFile,
  createFolder,
  removeFile,
  replaceOpenFile,
} from '../../journal/write-files.ts'
import { readRange } from '../../journal/read-log.ts'
import {
  type WrittenExport,
  exportsWritten,
  isExport,
  recordExport,
  exportChecksum,
} from './written-exports.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { shortId } from '../../journal/ids.ts'
import { formatToSecond } from '../../text/times.ts'
import {
  closingEntry,
  renderWorkflowLog,
  workflowLogMarker,
} from '../../document/export/workflow-log.ts'

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
  const reading = await workspace.view(row.id)
  const rendered = await renderExport(workspace, reading, format, path !== undefined && !force)
  // An export keeps every byte of the user's own session; that of a stranger may hold terminal escapes.
  const content = isOwnLog(logPaths(workspace.paths, row.id)) ? rendered : printable(rendered)
  if (path !== undefined) writeExport(workspace, path, content, { session: row.id, format, force })
  const { id, name, status } = reading.state
  return { session: { id, name, status }, format, content, ...defined({ path }) }
}

async function renderExport(
  workspace: Workspace,
  reading: SessionReading,
  format: ExportFormat,
  refusesSmall: boolean,
) {
  if (format === 'session-json') {
    const { renderSessionJson } = await import('../../document/export/session-json.ts')
    const source = await workSourceOf(workspace, reading)
    if (refusesSmall) refuseSmall(source)
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
function refuseSmall(source: ExportSource) {
  const size = workSize(source)
  if (size >= COMPLEX_FROM) return
  throw new StintError(
    'EXPORT_TOO_SMALL',
    `${source.state.name} has ${size} task${size === 1 ? '' : 's'}, and a session.json is worth its upkeep from ${COMPLEX_FROM} on: it says again what is recorded, and is out of date with the next entry`,
    '--force writes it all the same; without --output it is printed',
  )
}

const MAX_ROUNDS = 20

/** Leaves a foreign file alone without `force`; of two concurrent writers one wins completely. */
function writeExport(
  workspace: Workspace,
  path: string,
  text: string,
  about: Pick<WrittenExport, 'session' | 'format'> & { force: boolean },
) {
  const bytes = Buffer.from(text)
  try {
    createFolder(dirname(path), OPEN_TO_OTHERS)
    for (let round = 1; !tryWrite(workspace, path, bytes, about); round += 1) {
      if (round === MAX_ROUNDS)
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

/** False when another file has taken the path. */
function tryWrite(
  workspace: Workspace,
  path: string,
  bytes: Buffer,
  { session, format, force }: Pick<WrittenExport, 'session' | 'format'> & { force: boolean },
) {
  const fd = openIfPresent(path)
  try {
    if (fd !== undefined && !force && !isOwnExport(workspace, path, fd, bytes))
      throw foreignFile(path)
    recordExport(workspace, { path, session, format, sum: exportChecksum(bytes) })
    return fd === undefined ? createFile(path, bytes) : replaceOpenFile(path, fd, bytes)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function isOwnExport(workspace: Workspace, path: string, fd: number, wanted: Buffer) {
  const existing = readRange(fd, 0, fstatSync(fd).size)
  return existing.equals(wanted) || isExport(workspace, path, existing)
}

function foreignFile(path: string) {
  return new StintError(
    'EXPORT_EXISTS',
    `${path} was not written by an export, or was changed since`,
    '--force overwrites it; or name another file',
  )
}

/**
 * Resolves symbolic links. Refuses folders, devices, Stint's and git's own files, and missing
 * folders outside the project.
 */
function exportTarget(workspace: Workspace, output: string) {
  if (output.trim() === '')
    throw new StintError('EMPTY_TEXT', 'the export needs a file name', 'stint export --output FILE')
  const named = resolve(workspace.cwd, output)
  if (/[/\\]$/.test(output)) throw notAFile(named, 'names a folder')
  const { path, found } = resolveTarget(named)
  const leadsOut = isInProject(workspace, named) && !isInProject(workspace, path)
  // A link may come with the repository, and an export is replaced and removed again.
  if (leadsOut && existsSync(dirname(path)))
    throw notAFile(
      named,
      `leads out of the project through a symbolic link; name the real file: ${path}`,
    )
  if (found !== undefined && !found.isFile())
    throw notAFile(named, found.isDirectory() ? 'is a folder' : 'is not a file')
  if (protectedFolders(workspace).some((folder) => isWithin(folder, path))) {
    throw new StintError(
      'EXPORT_AMONG_JOURNALS',
      `${named} is where Stint or git keeps its own files`,
      'name a file outside .sessions, .tasks and .git',
    )
  }
  if (!existsSync(dirname(path)) && !isInProject(workspace, path)) {
    throw new StintError(
      'NO_FOLDER',
      `there is no folder ${dirname(named)}`,
      'create it first; only those of the project are made',
    )
  }
  return path
}

function resolveTarget(named: string) {
  try {
    const path = join(realFolder(dirname(named)), basename(named))
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
      return { path, found: statOrUndefined(path) }
    if (!existsSync(path)) throw notAFile(named, 'is a symbolic link that leads nowhere')
    return { path: realpathSync(path), found: statOrUndefined(path) }
  } catch (cause) {
    if (cause instanceof StintError || errnoOf(cause) === undefined) throw cause
    throw new NotWritten(named, cause)
  }
}

function isInProject(workspace: Workspace, path: string): boolean {
  return isWithin(workspace.paths.root, path) || isWithin(workingFolder(workspace.paths), path)
}

function realFolder(folder: string): string {
  if (existsSync(folder)) {
    if (statOrUndefined(folder)?.isDirectory() !== true)
      throw new StintError('NO_FOLDER', `${folder} is not a folder`)
    return realpathSync(folder)
  }
  return join(realFolder(dirname(folder)), basename(folder))
}

function protectedFolders({ paths }: Workspace) {
  const { sessions, tasks, repository } = paths
  const own = [
    sessions,
    tasks,
    ...(repository === undefined ? [] : [repository.commonDir, repository.gitDir]),
  ]
  return own.map((folder) => (existsSync(folder) ? realpathSync(folder) : folder))
}

function notAFile(path: string, why: string) {
  return new StintError(
    'EXPORT_NO_FILE',
    `${path} ${why}`,
    'name a file, or leave --output away to have it on standard output',
  )
}

/** The session is closed already: problems here are only reported. */
export async function updateExportsAfterClose(
  workspace: Workspace,
  reading: SessionReading,
): Promise<void> {
  await reportFailure(workspace, 'the workflow log could not be written', () =>
    writeWorkflowLog(workspace, reading),
  )
  await reportFailure(workspace, 'session.json could not be removed', () =>
    removeSessionJson(workspace, reading.state.id),
  )
}

async function reportFailure(
  workspace: Workspace,
  failure: string,
  work: () => void | Promise<void>,
) {
  try {
    await work()
  } catch (error) {
    workspace.say(`${failure}: ${messageOf(error)}`)
  }
}

/** Written once per close. Never overwrites another file. */
async function writeWorkflowLog(workspace: Workspace, reading: SessionReading) {
  const folder = workspace.config.workflowLog
  if (folder === undefined) return
  const source = await workSourceOf(workspace, reading)
  const text = renderWorkflowLog(source)
  const marker = workflowLogMarker(source)
  for (const name of candidateNames(source)) {
    const path = exportTarget(workspace, join(workingFolder(workspace.paths), folder, name))
    if (!isInProject(workspace, path)) throw new Error(`${folder} leads out of the project`)
    createFolder(dirname(path), OPEN_TO_OTHERS)
    recordExport(workspace, {
      path,
      session: reading.state.id,
      format: 'workflow-log',
      sum: exportChecksum(Buffer.from(text)),
    })
    const isWritten = createFile(path, text)
    if (isWritten) workspace.say(`the workflow log is ${relative(workspace.cwd, path)}`)
    // Another command wrote it at the same moment.
    if (isWritten || readOrUndefined(path)?.toString('utf8').includes(marker) === true) return
  }
  throw new Error(`files of its name stand in ${folder} already`)
}

function candidateNames({ state, entries }: ExportSource) {
  const closing = closingEntry(entries)
  const [date = '', time = ''] = formatToSecond(closing?.at ?? state.updatedAt).split('T')
  const stem = `${date}_${time.replaceAll(/\D/g, '')}_${nameForFiles(state)}`
  return [`${stem}.md`, `${stem}-${shortId(closing?.id ?? state.id)}.md`]
}

/** Removed when the session ends, unless it was edited. */
function removeSessionJson(workspace: Workspace, session: string) {
  const own = exportsWritten(workspace).filter(
    (known) => known.format === 'session-json' && known.session === session,
  )
  for (const path of new Set(own.map((known) => known.path))) {
    const bytes = readOrUndefined(path)
    if (bytes === undefined) continue
    const name = relative(workspace.cwd, path)
    if (!isExport(workspace, path, bytes))
      workspace.say(`${name} was changed since it was exported, and is left as it is`)
    else if (removeFile(path)) workspace.say(`${name} was removed with the session's end`)
  }
}
