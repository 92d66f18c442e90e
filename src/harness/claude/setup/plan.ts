// What a setup, or its removal, comes to.
import { dirname } from 'node:path'
import { removeEmptyFolder } from '../../../journal/files.ts'
import { type FileChange, applyChange, missingFolders, readText, refuseBarred } from './changes.ts'
import { type Manifest, type WrittenFile, manifestPath, manifestText } from './manifest.ts'

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
