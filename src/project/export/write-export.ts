import { closeSync, fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotWritten, StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import { createFile, createFolder, openToRead, replaceOpenFile } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'
import type { Workspace } from '../store/workspace.ts'
import { type WrittenExport, isExport, noteExport, sumOf } from './written.ts'

const ROUNDS = 20

/**
 * Puts an export into its file in one step. A file that is not one of ours as we wrote it is left alone, unless
 * `force` says otherwise; of two processes that write at once, one has its whole text there.
 */
export function writeExport(
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

/** One attempt. False when the name came to mean another file meanwhile, which has to be looked at first. */
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

/** Whether an export wrote what stands there, or it is what is to be written anyway. */
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
