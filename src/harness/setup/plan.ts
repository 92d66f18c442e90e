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
  readonly changes: readonly FileChange[]
  /** Written first, so that an interrupted setup is still known to be ours. */
  readonly record: FileChange | undefined
  readonly folders: readonly string[]
  readonly notes: readonly string[]
}

export function filesOf({ changes, record }: Plan): readonly FileChange[] {
  if (record === undefined) return changes
  // It outlives what it describes.
  return record.after === undefined ? [...changes, record] : [record, ...changes]
}

export function refuseImpossible(plan: Plan): void {
  refuseBarred(filesOf(plan))
}

export function carryOut(plan: Plan): void {
  for (const change of filesOf(plan)) applyChange(change)
  for (const folder of plan.folders) removeEmptyFolder(folder)
}

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

export interface FileChange {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export type ChangeKind = 'create' | 'change' | 'delete'

export function kindOf({ before, after }: FileChange): ChangeKind {
  return before === undefined ? 'create' : after === undefined ? 'delete' : 'change'
}

/** Throws for bytes that would not survive a round trip. */
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

export function refuseBarred(changes: readonly FileChange[]): void {
  for (const { path } of changes) refuseIfBarred(path)
}

export function applyChange({ path, before, after }: FileChange): void {
  const target = behindLinks(path)
  // The harness writes to its settings at any time.
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

export function missingFolders(path: string): readonly string[] {
  const folder = dirname(behindLinks(path))
  if (existsSync(folder) || folder === dirname(folder)) return []
  return [...missingFolders(folder), folder]
}

/** A symbolic link, as dotfile managers make, stays one. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    // Missing, or a link to something missing.
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

/** Replacing by rename ignores the file's permissions, so check them. */
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

export interface WrittenFile {
  readonly sum: string
  /** `delete` for a file that setup created. */
  readonly undo: readonly UndoStep[] | 'delete'
  /** Containers that existed before, which stay when empty. */
  readonly kept?: readonly string[]
  /** Values of ours that anyone might have: betas, an approval. */
  readonly added?: readonly string[]
}

export interface Manifest {
  readonly v: 1
  readonly target: string
  readonly files: Readonly<Record<string, WrittenFile>>
  readonly folders: readonly string[]
}

export function manifestPath(stateHome: string, target: string): string {
  return join(manifestFolder(stateHome), `${sumOf(target).slice(0, 16)}.json`)
}

/** Without a readable manifest, ours is recognised by its content. */
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

// Kept instead of a copy, because settings may hold secrets.

export interface UndoStep {
  readonly at: number
  readonly length: number
  readonly text: string
}

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
