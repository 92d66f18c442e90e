import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { NotWritten, StintError, errnoOf } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'
import type { Workspace } from '../store/workspace.ts'

/**
 * Resolves symbolic links. Refuses folders, devices, Stint's and git's own files, and missing
 * folders outside the project.
 */
export function exportTarget(workspace: Workspace, output: string): string {
  if (output.trim() === '')
    throw new StintError('EMPTY_TEXT', 'the export needs a file name', 'stint export --output FILE')
  const named = resolve(workspace.cwd, output)
  if (/[/\\]$/.test(output)) throw noFile(named, 'names a folder')
  const { path, found } = lookUp(named)
  if (found !== undefined && !found.isFile())
    throw noFile(named, found.isDirectory() ? 'is a folder' : 'is not a file')
  if (storesOf(workspace).some((store) => isWithin(path, store))) {
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

function lookUp(named: string) {
  try {
    const path = join(realFolder(dirname(named)), basename(named))
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
      return { path, found: statOrUndefined(path) }
    if (!existsSync(path)) throw noFile(named, 'is a symbolic link that leads nowhere')
    return { path: realpathSync(path), found: statOrUndefined(path) }
  } catch (cause) {
    if (cause instanceof StintError || errnoOf(cause) === undefined) throw cause
    throw new NotWritten(named, cause)
  }
}

export function isInProject(workspace: Workspace, path: string): boolean {
  return isWithin(path, workspace.place.root) || isWithin(path, projectFolder(workspace))
}

/** This worktree's, not the main one's. */
export function projectFolder({ place }: Workspace): string {
  return place.repository?.worktree ?? place.root
}

function realFolder(folder: string): string {
  if (existsSync(folder)) {
    if (statOrUndefined(folder)?.isDirectory() !== true)
      throw new StintError('NO_FOLDER', `${folder} is not a folder`)
    return realpathSync(folder)
  }
  return join(realFolder(dirname(folder)), basename(folder))
}

function storesOf({ place }: Workspace): readonly string[] {
  const { sessions, tasks, repository } = place
  const own = [
    sessions,
    tasks,
    ...(repository === undefined ? [] : [repository.commonDir, repository.gitDir]),
  ]
  return own.map((folder) => (existsSync(folder) ? realpathSync(folder) : folder))
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`))
}

function noFile(path: string, why: string): StintError {
  return new StintError(
    'EXPORT_NO_FILE',
    `${path} ${why}`,
    'name a file, or leave --output away to have it on standard output',
  )
}
