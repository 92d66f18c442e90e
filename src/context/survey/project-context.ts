import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { readHead } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { errnoOf } from '../../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../../journal/write-files.ts'
import { condenseFacts, costOfText } from './condense-facts.ts'
import { TrackedFiles, SourceReader } from './folder-survey.ts'
import {
  type CondensedTopic,
  type CachedProjectContext,
  readCachedContext,
  toCachedContext,
  cachedContextPath,
} from './cached-project-context.ts'
import { surveyRepository } from './survey.ts'

export interface ProjectContext {
  readonly text: string
  readonly tokens: number
  /** Absent on a branch without commits. */
  readonly head?: string
  readonly sources: readonly string[]
  readonly topics: readonly CondensedTopic[]
  /** Absent if the cached text was still valid. */
  readonly renewed?: 'first' | 'asked' | 'commit' | 'files'
}

export interface ProjectContextOptions {
  readonly refresh?: boolean
  /** Redacts, because the result is written to disk. */
  readonly withoutSecrets: (text: string) => string
}

/** Cached while HEAD, the tracked paths and the contents of the sources are unchanged. */
export function loadProjectContext(
  repository: Repository,
  { refresh, withoutSecrets }: ProjectContextOptions,
): ProjectContext {
  const listing = new TrackedFiles(repository)
  const head = readHead(repository).commit ?? null
  const cached = readCachedContext(repository)
  let renewed: ProjectContext['renewed'] = 'files'
  if (refresh === true) renewed = 'asked'
  else if (cached === undefined) renewed = 'first'
  else if (cached.head !== head) renewed = 'commit'
  else {
    const current = new SourceReader(repository.worktree, listing.has)
    for (const { path } of cached.sources) current.text(path)
    if (inputsOf(listing, current) === cached.inputs) {
      // Same content with a new mtime: hooks compare mtimes and would reject the cache.
      if (JSON.stringify(current.files) !== JSON.stringify(cached.sources))
        writeCache(repository, { ...cached, sources: current.files })
      return describe(cached)
    }
  }
  const sources = new SourceReader(repository.worktree, listing.has)
  const { text, topics } = condenseFacts(
    surveyRepository(repository, listing, sources).map((fact) => ({
      ...fact,
      text: withoutSecrets(fact.text),
    })),
  )
  const inputs = inputsOf(listing, sources)
  const fresh = toCachedContext({ head, inputs, sources: sources.files, text, topics })
  writeCache(repository, fresh)
  return { ...describe(fresh), renewed }
}

function describe({ text, head, sources, topics }: CachedProjectContext) {
  return {
    text,
    tokens: costOfText(text),
    ...(head === null ? {} : { head }),
    sources: sources.map(({ path }) => path),
    topics,
  }
}

function inputsOf(listing: TrackedFiles, sources: SourceReader) {
  return createHash('sha256').update(listing.raw).update(sources.sum()).digest('hex')
}

/** A failed write only costs another survey next time. */
function writeCache(repository: Repository, value: CachedProjectContext) {
  const path = cachedContextPath(repository)
  try {
    createFolder(dirname(path))
    replaceUnsynced(path, JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
