import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { lastSubjects } from '../../src/survey/commits.ts'
import { condense } from '../../src/survey/condense.ts'
import { readListing } from '../../src/survey/listing.ts'
import { Sources } from '../../src/survey/sources.ts'
import { survey } from '../../src/survey/survey.ts'
import { realTokens } from '../context/vocabularies.ts'
import { repositoryAt } from '../git/world.ts'
import { saidOnPage } from './said-on-page.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** The files of this project grow; a figure is wrong when it is a quarter off. */
const TOLERANCE = 0.25

/** The sources may come without their history, or belong to somebody else. */
const isRepository = spawnSync('git', ['ls-files', '--error-unmatch', 'package.json'], { cwd: root }).status === 0

describe('the context of this project', () => {
  test.skipIf(!isRepository)('takes as many tokens, of as many, as the docs say', () => {
    const repository = repositoryAt(root)
    const listing = readListing(repository)
    const sources = new Sources(repository.worktree, listing.has)
    const { text } = condense(survey(repository, listing, sources))
    const files = sources.files.map(({ path }) => readFileSync(join(root, path), 'utf8'))
    const actual = {
      context: realTokens(text),
      condensed: realTokens([...files, listing.paths.join('\n'), lastSubjects(repository).join('\n')].join('\n')),
    }
    const figures = saidOnPage()
    const isNear = (figure: number, measured: number) => Math.abs(figure - measured) <= TOLERANCE * measured
    expect([isNear(figures.context, actual.context), isNear(figures.condensed, actual.condensed), actual]).toEqual([
      true,
      true,
      actual,
    ])
  })
})
