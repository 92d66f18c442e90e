// Hooks read this, so that nothing here starts a process or hashes a file.
import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { headInFiles } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { errnoOf } from '../../journal/errors.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { checksum } from '../../journal/record.ts'

/** What can be said of a project, in the order in which it is said. */
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

/** The size of a tracked file that could not be read. */
export const UNREADABLE_SIZE = -1

/** Raised with each change of the wording, or an older text would be injected for ever. */
const FORM = 1

export interface CachedProjectContext {
  readonly form: typeof FORM
  readonly head: string | null
  readonly inputs: string
  readonly sources: readonly SourceFile[]
  readonly text: string
  /** Of the text: a file that was changed by hand is not injected. */
  readonly sum: string
  readonly topics: readonly CondensedTopic[]
}

export function toCachedContext(
  facts: Omit<CachedProjectContext, 'form' | 'sum'>,
): CachedProjectContext {
  return { form: FORM, ...facts, sum: sumOf(facts.text) }
}

/** Where `git clean` does not reach; a file for each worktree. */
export function cachedContextPath({ commonDir, gitDir, isLinked }: Repository): string {
  const worktree = isLinked ? `-${basename(gitDir)}` : ''
  return join(commonDir, 'stint', `project-context${worktree}.json`)
}

/** What is kept, whether or not it still holds. */
export function readCachedContext(repository: Repository): CachedProjectContext | undefined {
  try {
    const value = JSON.parse(
      readOrUndefined(cachedContextPath(repository))?.toString('utf8') ?? 'null',
    ) as Partial<CachedProjectContext> | null
    const isWhole =
      value?.form === FORM && typeof value.text === 'string' && Array.isArray(value.sources)
    return isWhole && value.sum === sumOf(value.text!) ? (value as CachedProjectContext) : undefined
  } catch (error) {
    // Half a file, or one that may not be read: as good as none.
    if (error instanceof SyntaxError || errnoOf(error) !== undefined) return undefined
    throw error
  }
}

/** For hooks: only if HEAD and every file it was made from are unchanged. New files that are not committed go unnoticed. */
export function readProjectContext({
  repository,
}: {
  readonly repository: Repository | undefined
}): string | undefined {
  const kept = repository === undefined ? undefined : readCachedContext(repository)
  if (repository === undefined || kept === undefined) return undefined
  const head = headInFiles(repository)
  if (head === undefined || (head.commit ?? null) !== kept.head) return undefined
  const isUnchanged = ({ path, size, mtimeMs }: SourceFile) => {
    const now = lstatSync(join(repository.worktree, path), { throwIfNoEntry: false })
    if (size === UNREADABLE_SIZE) return now === undefined || !now.isFile()
    return now !== undefined && now.size === size && now.mtimeMs === mtimeMs
  }
  return kept.sources.every(isUnchanged) ? kept.text : undefined
}

function sumOf(text: string) {
  return checksum(Buffer.from(text))
}
