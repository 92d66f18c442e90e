import { describe, expect, test } from 'vitest'
import { KnownPaths, findOverlap, findTouchedFiles } from '../../../src/run/delegate/overlap.ts'
import { someTask } from './candidates.ts'

const tree = new KnownPaths([
  'README.md',
  'src/auth/login.ts',
  'src/auth/index.ts',
  'src/run/index.ts',
  'docs/usage.md',
])
const touches = (fields: Parameters<typeof someTask>[1], files: readonly string[] = []) =>
  findTouchedFiles(someTask('a', fields), tree, files)

describe('the files of a task', () => {
  test('are those of its request, and then its text does not count', () => {
    expect(
      touches({ title: 'Mend src/auth/login.ts', extra: 'files: docs/**' }, ['src/**']),
    ).toEqual({
      declared: ['src/**'],
      likely: [],
    })
  })

  test.each([
    ['a list in one line', 'files: [src/a.ts, "docs/**"]', ['src/a.ts', 'docs/**']],
    [
      'a list of lines',
      'owner: me\nfiles:\n  - src/a.ts\n  - docs/b.md',
      ['src/a.ts', 'docs/b.md'],
    ],
    ['one of them', 'files: src/a.ts', ['src/a.ts']],
    ['a value that is no list', 'files: {a: 1}', []],
    ['invalid YAML', 'files: [src/a.ts', []],
    ['nothing', 'owner: me', []],
  ])('are declared in its front matter: %s', (_what, extra, declared) => {
    expect(touches({ extra }).declared).toEqual(declared)
  })

  test.each([
    ['a path', 'Mend src/auth/login.ts, please.', ['src/auth/login.ts']],
    ['a path with a line', 'It fails at ./src/auth/login.ts:12:4.', ['src/auth/login.ts']],
    ['a folder', 'Tidy up src/auth/.', ['src/auth']],
    ['a top-level file', 'Say it in README.md.', ['README.md']],
    ['a unique file name', 'Mend login.ts', ['src/auth/login.ts']],
    ['an ambiguous file name', 'Mend index.ts', []],
    ['a missing path', 'Write src/auth/logout.ts', []],
    ['a missing path in backticks', 'Write `src/auth/logout.ts`', ['src/auth/logout.ts']],
    ['a pattern in backticks', 'Mend `src/**/*.ts`', ['src/**/*.ts']],
    ['something else with a slash, in backticks', 'Send `application/json` from `origin/main`', []],
    ['an address', 'See https://example.com/src/auth/login.html', []],
    ['a top-level folder', 'Everything in src is slow', []],
    ['nothing', 'Make it faster', []],
  ])('are guessed from its text: %s', (_what, text, likely) => {
    expect(touches({ description: text }).likely).toEqual(likely)
    expect(touches({ checklist: [{ item: text, done: false }] }).likely).toEqual(likely)
  })

  test('are found in a text of any length', () => {
    const text = `${'.'.repeat(200_000)} ${'`'.repeat(1000)} ${'a/'.repeat(100_000)}x`
    expect(touches({ details: text }).likely).toEqual([])
  })
})

describe('two tasks overlap', () => {
  const declared = (...globs: readonly string[]) => ({ declared: globs, likely: [] })
  const likely = (...paths: readonly string[]) => ({ declared: [], likely: paths })

  test.each([
    ['if both declare it', declared('src/**'), declared('src/a.ts', 'docs/a.md'), 'declared'],
    ['probably, if one declares it', declared('src/**'), likely('src/a.ts'), 'likely'],
    [
      'probably, if both mention the same',
      likely('src/a.ts'),
      likely('docs/a.md', 'src/a.ts'),
      'likely',
    ],
    ['not at all, if both declare other files', declared('src/**'), declared('docs/**'), 'none'],
    ['not at all, if one has no known files', declared('src/**'), likely(), 'none'],
  ])('%s', (_where, a, b, how) => {
    expect(findOverlap(a, b).how).toBe(how)
    expect(findOverlap(b, a).how).toBe(how)
    expect(findOverlap(a, b).paths.length > 0).toBe(how !== 'none')
  })
})
