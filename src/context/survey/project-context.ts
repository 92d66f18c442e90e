import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { readHead } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { errnoOf } from '../../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { type CondensedTopic, condense, costOfText } from './condense.ts'
import type { Finding } from './finding.ts'
import { readListing } from './listing.ts'
import { type SourceFile, readRemembered, remembered, rememberedPath } from './remembered.ts'
import { Sources } from './sources.ts'
import { survey } from './survey.ts'

export interface ProjectContext {
  readonly text: string
  /** What it costs a model, at most. */
  readonly tokens: number
  /** The commit that it was made at; absent on a branch without one. */
  readonly head?: string
  /** The files that were read, from the root of the worktree. */
  readonly sources: readonly string[]
  readonly topics: readonly CondensedTopic[]
  /** Why it was made anew; absent when what was kept still held. */
  readonly renewed?: 'first' | 'asked' | 'commit' | 'files'
}

export interface ProjectContextOptions {
  /** Made anew, whatever is kept. */
  readonly refresh?: boolean
  /** Takes out what is secret in this project; what is kept is written to disk. */
  readonly withoutSecrets: (text: string) => string
}

/**
 * What somebody who has just arrived has to know of a repository, in few tokens. What was kept is given while HEAD, git's
 * listing and the contents of what was read are the same; else it is made anew and kept.
 */
export function projectContext(
  repository: Repository,
  options: ProjectContextOptions,
): ProjectContext {
  const listing = readListing(repository)
  const head = readHead(repository).commit ?? null
  const kept = readRemembered(repository)
  const because =
    options.refresh === true
      ? 'asked'
      : kept === undefined
        ? 'first'
        : kept.head === head
          ? undefined
          : 'commit'
  if (kept !== undefined && because === undefined) {
    const again = new Sources(repository.worktree, listing.has)
    for (const { path } of kept.sources) again.text(path)
    if (inputsOf(listing.raw, again) === kept.inputs) {
      // Written anew with the same content: hooks would take it for another file.
      if (!areSame(again.files, kept.sources)) keep(repository, { ...kept, sources: again.files })
      return described(kept)
    }
  }
  const sources = new Sources(repository.worktree, listing.has)
  const findings = survey(repository, listing, sources).map((finding): Finding => ({
    ...finding,
    text: options.withoutSecrets(finding.text),
  }))
  const { text, topics } = condense(findings)
  const fresh = remembered({
    head,
    inputs: inputsOf(listing.raw, sources),
    sources: sources.files,
    text,
    topics,
  })
  keep(repository, fresh)
  return { ...described(fresh), renewed: because ?? 'files' }
}

function described({ text, head, sources, topics }: ReturnType<typeof remembered>): ProjectContext {
  return {
    text,
    tokens: costOfText(text),
    ...(head === null ? {} : { head }),
    sources: sources.map(({ path }) => path),
    topics,
  }
}

function inputsOf(listing: string, sources: Sources): string {
  return createHash('sha256').update(listing).update(sources.sum()).digest('hex')
}

function areSame(some: readonly SourceFile[], others: readonly SourceFile[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}

/** What cannot be kept is made again next time, which is no reason to fail. */
function keep(repository: Repository, value: ReturnType<typeof remembered>): void {
  const path = rememberedPath(repository)
  try {
    createFolder(dirname(path))
    replaceUnsynced(path, JSON.stringify(value))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}
