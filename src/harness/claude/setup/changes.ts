// What setting up comes to, first as a plan that can be shown, then on disk.
import { existsSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StintError, errnoOf, isMissing } from '../../../journal/errors.ts'
import { createFile, createFolder, removeFile, replaceFile } from '../../../journal/files.ts'
import { modeOf, readOrUndefined, statOrUndefined } from '../../../journal/look.ts'

/** A file as it is and as it is to be; undefined where there is none. */
export interface FileChange {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export type ChangeKind = 'create' | 'change' | 'delete'

export function kindOf({ before, after }: FileChange): ChangeKind {
  return before === undefined ? 'create' : after === undefined ? 'delete' : 'change'
}

/** What a file holds, through symbolic links; refused when it is not text, because it would not be the same afterwards. */
export function readText(path: string): string | undefined {
  const bytes = readOrUndefined(path)
  const text = bytes?.toString('utf8')
  if (text !== undefined && !Buffer.from(text).equals(bytes!)) {
    throw new StintError(
      'NOT_UTF8',
      `${path} is not UTF-8; nothing was changed`,
      'save it as UTF-8 and run this again',
    )
  }
  return text
}

/** Refuses what cannot be written, before the first byte is. */
export function refuseBarred(changes: readonly FileChange[]): void {
  for (const { path } of changes) refuseIfBarred(path)
}

export function applyChange({ path, before, after }: FileChange): void {
  const target = behindLinks(path)
  // The harness itself writes to its settings, at any time.
  if (readText(path) !== before) throw new Interfered(path)
  try {
    if (after === undefined) removeFile(target)
    else if (before !== undefined) replaceFile(target, after)
    else {
      createFolder(dirname(target))
      if (!createFile(target, after, { mode: 0o644 })) throw new Interfered(path)
    }
  } catch (error) {
    throw errnoOf(error) === undefined || error instanceof StintError
      ? error
      : new Barred(path, error)
  }
}

/** The folders that would have to be made for a file, the outermost first. */
export function missingFolders(path: string): readonly string[] {
  const folder = dirname(behindLinks(path))
  if (existsSync(folder) || folder === dirname(folder)) return []
  return [...missingFolders(folder), folder]
}

/** Where a file really is: one that is a symbolic link, as dotfile managers make them, stays one. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    // Nothing there, or a link to nothing there yet.
    const target = linkTarget(path)
    return target === undefined ? path : behindLinks(resolve(dirname(path), target))
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}

/** A file is replaced by renaming, which asks nobody whether that file may be written; so this asks. */
function refuseIfBarred(path: string): void {
  const target = behindLinks(path)
  const nearest = existsSync(target) ? target : existingParent(target)
  if ((modeOf(nearest) & 0o222) === 0) throw new Barred(nearest)
  const isFolder = statOrUndefined(nearest)?.isDirectory() === true
  if (isFolder && nearest === target) throw new Barred(nearest, 'it is a folder')
  if (!isFolder && nearest !== target) throw new Barred(nearest, 'it is not a folder')
}

function existingParent(path: string): string {
  const parent = dirname(path)
  return existsSync(parent) || parent === path ? parent : existingParent(parent)
}

class Barred extends StintError {
  override readonly name = 'Barred'
  constructor(path: string, cause?: unknown) {
    const reason =
      cause === undefined
        ? 'it is read-only'
        : cause instanceof Error
          ? cause.message
          : String(cause)
    super(
      'CANNOT_WRITE',
      `${path} cannot be written: ${reason}`,
      'change that, or choose another place: --shared, --user',
      {
        cause,
      },
    )
  }
}

class Interfered extends StintError {
  override readonly name = 'Interfered'
  constructor(path: string) {
    super('CHANGED_MEANWHILE', `${path} was changed by another program just now`, 'run this again')
  }
}
