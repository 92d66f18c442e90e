// Which files exports wrote, so that no other is overwritten or removed. Recorded before the file
// is written, and where no clone could bring a list of files to remove.
import { asObject, parseJson } from '../../text/json-fields.ts'
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, ignoreIoErrors, messageOf } from '../../journal/errors.ts'
import { appendLines, createFolder } from '../../journal/write-files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import type { ExportFormat } from '../../document/export/collect-work.ts'
import { isWithin, machineFolder, workingFolder } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'

export interface WrittenExport {
  readonly path: string
  readonly session: string
  readonly format: ExportFormat
  readonly sum: string
}

/** If it cannot be recorded, the file later counts as foreign. */
export function recordExport(workspace: Workspace, written: WrittenExport): void {
  if (exportsWritten(workspace).some((known) => isEqual(known, written))) return
  try {
    createFolder(machineFolder(workspace.paths))
    appendLines(exportsPath(workspace), Buffer.from(`${JSON.stringify(written)}\n`))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    workspace.say(`it could not be noted that ${written.path} is an export: ${messageOf(error)}`)
  }
}

export function exportsWritten(workspace: Workspace): readonly WrittenExport[] {
  return [
    ...readExports(join(workspace.paths.sessions, OLD_LIST)).filter(({ path }) =>
      isInProject(workspace, path),
    ),
    ...readExports(exportsPath(workspace)),
  ]
}

/** Written by earlier versions. A clone may bring it too, so it counts only for files of the project. */
const OLD_LIST = 'exports.jsonl'

function readExports(list: string) {
  const lines = readOrUndefined(list)?.toString('utf8').split('\n') ?? []
  return lines.flatMap((line) => parseExport(line) ?? [])
}

function isInProject({ paths }: Workspace, path: string) {
  const real = ignoreIoErrors(() => realpathSync(path))
  return (
    real === path && [paths.root, workingFolder(paths)].some((folder) => isWithin(folder, real))
  )
}

export function isExport(workspace: Workspace, path: string, bytes: Buffer): boolean {
  const sum = exportChecksum(bytes)
  return exportsWritten(workspace).some((known) => known.path === path && known.sum === sum)
}

/** After a purge it still counts as an export. */
export function recordChangedExport(workspace: Workspace, path: string): void {
  const known = exportsWritten(workspace).findLast((one) => one.path === path)
  const bytes = known === undefined ? undefined : readOrUndefined(path)
  if (known !== undefined && bytes !== undefined)
    recordExport(workspace, { ...known, sum: exportChecksum(bytes) })
}

export function exportedFiles(workspace: Workspace): readonly string[] {
  const paths = new Set(exportsWritten(workspace).map(({ path }) => path))
  return [...paths].filter((path) => statOrUndefined(path)?.isFile() === true)
}

export function exportChecksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function exportsPath({ paths }: Workspace) {
  return join(machineFolder(paths), 'exports.jsonl')
}

function isEqual(a: WrittenExport, b: WrittenExport) {
  return a.path === b.path && a.sum === b.sum && a.session === b.session && a.format === b.format
}

// The file of a truncated line counts as foreign.
function parseExport(line: string) {
  const value = asObject(parseJson(line))
  const isExport = typeof value?.['path'] === 'string' && typeof value['sum'] === 'string'
  return isExport ? (value as unknown as WrittenExport) : undefined
}
