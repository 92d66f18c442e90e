import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { condense } from '../../src/context/survey/condense.ts'
import { Listing, Sources } from '../../src/context/survey/look.ts'
import { lastSubjects, survey } from '../../src/context/survey/survey.ts'
import { realTokens } from '../context/vocabularies.ts'
import { repositoryAt } from '../git/world.ts'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What the context of this project costs now, and what was read for it, in tokens. */
export function countHere(): { readonly context: number; readonly condensed: number } {
  const repository = repositoryAt(root)
  const listing = new Listing(repository)
  const sources = new Sources(repository.worktree, listing.has)
  const { text } = condense(survey(repository, listing, sources))
  const files = sources.files.map(({ path }) => readFileSync(join(root, path), 'utf8'))
  const read = [...files, listing.paths.join('\n'), lastSubjects(repository).join('\n')].join('\n')
  return { context: realTokens(text), condensed: realTokens(read) }
}
