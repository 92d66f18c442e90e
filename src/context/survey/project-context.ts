import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { readHead } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { errnoOf } from '../../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
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
  /** The commit that it was made at; absent on a branch without one. */
  readonly head?: string
  readonly sources: readonly string[]
  readonly topics: readonly CondensedTopic[]
  /** Why it was made anew; absent when what was kept still held. */
  readonly renewed?: 'first' | 'asked' | 'commit' | 'files'
}

export interface ProjectContextOptions {
  readonly refresh?: boolean
  /** Takes out what is secret in this project; what is kept is written to disk. */
  readonly withoutSecrets: (text: string) => string
}

/** What was kept is returned while HEAD, git's listing and the contents of what was read are the same. */
export function loadProjectContext(
  repository: Repository,
  { refresh, withoutSecrets }: ProjectContextOptions,
): ProjectContext {
  const listing = new TrackedFiles(repository)
  const head = readHead(repository).commit ?? null
  const kept = readCachedContext(repository)
  let renewed: ProjectContext['renewed'] = 'files'
  if (refresh === true) renewed = 'asked'
  else if (kept === undefined) renewed = 'first'
  else if (kept.head !== head) renewed = 'commit'
  else {
    const again = new SourceReader(repository.worktree, listing.has)
    for (const { path } of kept.sources) again.text(path)
    if (inputsOf(listing, again) === kept.inputs) {
      // Written anew with the same content: hooks would take it for another file.
      if (JSON.stringify(again.files) !== JSON.stringify(kept.sources))
        keep(repository, { ...kept, sources: again.files })
      return described(kept)
    }
  }
  const sources = new SourceReader(repository.worktree, listing.has)
  const { text, topics } = condenseFacts(
    surveyRepository(repository, listing, sources).map((finding) => ({
      ...finding,
      text: withoutSecrets(finding.text),
    })),
  )
  const inputs = inputsOf(listing, sources)
  const fresh = toCachedContext({ head, inputs, sources: sources.files, text, topics })
  keep(repository, fresh)
  return { ...described(fresh), renewed }
}

function described({ text, head, sources, topics }: CachedProjectContext) {
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

/** What cannot be kept is made again next time. */
function keep(repository: Repository, value: CachedProjectContext) {
  const path = cachedContextPath(repository)
  try {
    createFolder(dirname(path))
    replaceUnsynced(path, JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
