// What a setup, or its removal, comes to.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import {
  createFile,
  createFolder,
  removeEmptyFolder,
  removeFile,
  replaceFile,
} from '../../journal/files.ts'
import { modeOf, readOrUndefined, statOrUndefined } from '../../journal/look.ts'

export interface Plan {
  /** What is changed, in the order in which it is written. */
  readonly changes: readonly FileChange[]
  /** Our own record of it, written first: what is not yet written is then known to be ours all the same. */
  readonly record: FileChange | undefined
  /** The folders that go if they are empty, the innermost first. */
  readonly folders: readonly string[]
  /** What was left out or left alone, and why. */
  readonly notes: readonly string[]
}

/** Every file of a plan, in the order in which it is written. */
export function filesOf({ changes, record }: Plan): readonly FileChange[] {
  if (record === undefined) return changes
  // Removed last and written first: it outlives what it speaks of.
  return record.after === undefined ? [...changes, record] : [record, ...changes]
}

/** Refuses a plan that cannot be carried out as a whole. */
export function refuseImpossible(plan: Plan): void {
  refuseBarred(filesOf(plan))
}

export function carryOut(plan: Plan): void {
  for (const change of filesOf(plan)) applyChange(change)
  for (const folder of plan.folders) removeEmptyFolder(folder)
}

/** The change of the manifest that goes with other changes. */
export function recordOf(
  stateHome: string,
  known: Manifest,
  changes: readonly FileChange[],
  written: Readonly<Record<string, WrittenFile>>,
): FileChange | undefined {
  const path = manifestPath(stateHome, known.target)
  const before = readText(path)
  if (changes.length === 0 && before === undefined) return undefined
  const gone = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  const files = Object.fromEntries(
    Object.entries({ ...known.files, ...written }).filter(([path]) => !gone.has(path)),
  )
  const made = changes.filter(
    ({ path, before }) => before === undefined && written[path] !== undefined,
  )
  const folders = [
    ...new Set([...known.folders, ...made.flatMap(({ path }) => missingFolders(path))]),
  ]
  const after = manifestText({ ...known, files, folders })
  return before === after ? undefined : { path, before, after }
}

/** The removal of the manifest, if there is one. */
export function recordRemoval(stateHome: string, { target }: Manifest): FileChange | undefined {
  const path = manifestPath(stateHome, target)
  const before = readText(path)
  return before === undefined ? undefined : { path, before, after: undefined }
}

export function innermostFirst(folders: readonly string[]): readonly string[] {
  return folders.toSorted((a, b) => depth(b) - depth(a))
}

function depth(path: string): number {
  return dirname(path) === path ? 0 : depth(dirname(path)) + 1
}

// What setting up comes to, first as a plan that can be shown, then on disk.

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

// What setup wrote, so that it can be undone exactly. It lies outside the project: it speaks of this machine's files.

/** What was written into one file. */
export interface WrittenFile {
  /** The sum of the file as setup left it. */
  readonly sum: string
  /** The way back, or `delete` for a file that setup created. */
  readonly undo: readonly UndoStep[] | 'delete'
  /** In settings: the containers that were there before, and stay when they are empty. */
  readonly kept?: readonly string[]
  /** In settings: what setup put there and anybody might have: betas, an approval. */
  readonly added?: readonly string[]
}

export interface Manifest {
  readonly v: 1
  /** The file, or the folder of a plugin, that was set up. */
  readonly target: string
  readonly files: Readonly<Record<string, WrittenFile>>
  /** The folders that setup created. */
  readonly folders: readonly string[]
}

export function manifestPath(stateHome: string, target: string): string {
  return join(manifestFolder(stateHome), `${sumOf(target).slice(0, 16)}.json`)
}

/** The manifest, or an empty one when there is none that can be read: what is ours is then known by its looks. */
export function readManifest(path: string, target: string): Manifest {
  const empty: Manifest = { v: 1, target, files: {}, folders: [] }
  try {
    const value = JSON.parse(
      readOrUndefined(path)?.toString('utf8') ?? 'null',
    ) as Partial<Manifest> | null
    return value?.v === 1 && value.target === target ? { ...empty, ...value } : empty
  } catch (error) {
    if (error instanceof SyntaxError) return empty
    throw error
  }
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** Whether anything else is set up on this machine. */
export function hasOtherManifests(stateHome: string, path: string): boolean {
  try {
    return readdirSync(manifestFolder(stateHome)).some(
      (name) =>
        name.endsWith('.json') &&
        !name.startsWith('.') &&
        join(manifestFolder(stateHome), name) !== path,
    )
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

export function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function manifestFolder(stateHome: string): string {
  return join(stateHome, 'setup')
}

// How to get back from what was written to what was there. Kept instead of a copy of the file, because settings
// may hold keys and passwords.

/** In the text as it was written: the piece at this place becomes that one. */
export interface UndoStep {
  readonly at: number
  readonly length: number
  readonly text: string
}

/** The steps back, the first one first, through texts that are one edit apart. */
export function undoSteps(texts: readonly string[]): readonly UndoStep[] {
  return texts
    .slice(1)
    .map((after, index) => stepBack(texts[index]!, after))
    .toReversed()
}

export function undo(text: string, steps: readonly UndoStep[]): string {
  return steps.reduce(
    (rest, step) => rest.slice(0, step.at) + step.text + rest.slice(step.at + step.length),
    text,
  )
}

function stepBack(before: string, after: string): UndoStep {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return {
    at: start,
    length: after.length - start - end,
    text: before.slice(start, before.length - end),
  }
}
