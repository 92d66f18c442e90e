// What setup wrote, so that it can be undone exactly. It lies outside the project: it speaks of this machine's files.
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../../journal/errors.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import type { UndoStep } from './undo.ts'

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
