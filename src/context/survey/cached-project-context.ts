// Loaded by hooks: nothing here may start a process or hash a file.
import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { headInFiles } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { errnoOf } from '../../journal/errors.ts'
import { readJson } from '../../journal/read-files.ts'
import { checksum } from '../../journal/record.ts'

/** In the order of the text. */
export const TOPICS = [
  'project',
  'languages',
  'commands',
  'layout',
  'tests',
  'instructions',
  'conventions',
  'commits',
  'ci',
  'needs',
  'scripts',
] as const
export type Topic = (typeof TOPICS)[number]

export interface CondensedTopic {
  readonly topic: Topic
  readonly tokens: number
  readonly shown: number
  readonly count: number
  readonly isShortened: boolean
  readonly from: readonly string[]
}

export interface SourceFile {
  readonly path: string
  readonly size: number
  readonly mtimeMs: number
}

/** Stands for the size of a tracked file that could not be read. */
export const UNREADABLE_SIZE = -1

/** Increment when the wording changes, or the old text is injected for ever. */
const FORMAT_VERSION = 1

export interface CachedProjectContext {
  readonly form: typeof FORMAT_VERSION
  readonly head: string | null
  readonly inputs: string
  readonly sources: readonly SourceFile[]
  readonly text: string
  /** Checksum of the text: a cache file edited by hand is not injected. */
  readonly sum: string
  readonly topics: readonly CondensedTopic[]
}

export function toCachedContext(
  facts: Omit<CachedProjectContext, 'form' | 'sum'>,
): CachedProjectContext {
  return { form: FORMAT_VERSION, ...facts, sum: sumOf(facts.text) }
}

/** Safe from `git clean`; one file per worktree. */
export function cachedContextPath({ commonDir, gitDir, isLinked }: Repository): string {
  const worktree = isLinked ? `-${basename(gitDir)}` : ''
  return join(commonDir, 'stint', `project-context${worktree}.json`)
}

/** Without checking whether it is still valid. */
export function readCachedContext(repository: Repository): CachedProjectContext | undefined {
  try {
    const value = readJson(cachedContextPath(repository)) as
      | Partial<CachedProjectContext>
      | null
      | undefined
    const isComplete =
      value?.form === FORMAT_VERSION &&
      typeof value.text === 'string' &&
      Array.isArray(value.sources)
    return isComplete && value.sum === sumOf(value.text!)
      ? (value as CachedProjectContext)
      : undefined
  } catch (error) {
    // An unreadable file counts as missing.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

/**
 * For hooks: undefined unless HEAD and all sources are unchanged. New uncommitted files go
 * unnoticed.
 */
export function readProjectContext({
  repository,
}: {
  readonly repository: Repository | undefined
}): string | undefined {
  const cached = repository === undefined ? undefined : readCachedContext(repository)
  if (repository === undefined || cached === undefined) return undefined
  const head = headInFiles(repository)
  if (head === undefined || (head.commit ?? null) !== cached.head) return undefined
  const isUnchanged = ({ path, size, mtimeMs }: SourceFile) => {
    const now = lstatSync(join(repository.worktree, path), { throwIfNoEntry: false })
    if (size === UNREADABLE_SIZE) return now === undefined || !now.isFile()
    return now !== undefined && now.size === size && now.mtimeMs === mtimeMs
  }
  return cached.sources.every(isUnchanged) ? cached.text : undefined
}

function sumOf(text: string) {
  return checksum(Buffer.from(text))
}
