import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { condenseFacts } from '../../src/context/survey/condense-facts.ts'
import { TrackedFiles, SourceReader } from '../../src/context/survey/folder-survey.ts'
import { lastSubjects, surveyRepository } from '../../src/context/survey/survey.ts'
import { realTokens } from '../context/vocabularies.ts'
import { repositoryAt } from '../git/world.ts'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Current tokens of this project's context and of its sources. */
export function countHere(): { readonly context: number; readonly condensed: number } {
  const repository = repositoryAt(root)
  const listing = new TrackedFiles(repository)
  const sources = new SourceReader(repository.worktree, listing.has)
  const { text } = condenseFacts(surveyRepository(repository, listing, sources))
  const files = sources.files.map(({ path }) => readFileSync(join(root, path), 'utf8'))
  const read = [...files, listing.paths.join('\n'), lastSubjects(repository).join('\n')].join('\n')
  return { context: realTokens(text), condensed: realTokens(read) }
}
