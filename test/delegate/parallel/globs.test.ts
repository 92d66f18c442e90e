import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayShareAPath } from '../../../src/run/delegate/overlap.ts'

describe('two globs', () => {
  test.each([
    ['the same path', 'src/a.ts', 'src/a.ts'],
    ['the same path, written otherwise', './src/a.ts', 'src/a.ts'],
    ['the same path in another case', 'README.md', 'readme.md'],
    ['a folder and a file in it', 'src', 'src/a.ts'],
    ['a folder with its slash, and a file in it', 'src/auth/', 'src/auth/login.ts'],
    ['a folder and a pattern in it', 'src/auth', 'src/auth/*.ts'],
    ['a folder and a pattern over it', 'src/auth', 'src/**/*.ts'],
    ['a pattern and a path that it matches', 'src/**/*.ts', 'src/run/loop/loop.ts'],
    ['patterns with the same beginning', 'src/run/**', 'src/run/*.ts'],
    ['patterns of which one holds the other', 'src/**', 'src/run/*.ts'],
    ['everything, and anything', '**', 'docs/a.md'],
    ['patterns that end alike', '**/*.test.ts', 'test/**/*.ts'],
    ['a choice, and one of it', 'src/{a,b}/c.ts', 'src/a/c.ts'],
    ['an extended glob, and one of it', 'src/@(a|b).ts', 'src/a.ts'],
    ['a class in brackets', 'src/[ab].ts', 'src/a.ts'],
  ])('may match the same path: %s', (_what, a, b) => {
    expect(mayShareAPath(a, b)).toBe(true)
    expect(mayShareAPath(b, a)).toBe(true)
  })

  test.each([
    ['two files', 'src/a.ts', 'src/b.ts'],
    ['a file and one whose name begins alike', 'src/a.ts', 'src/a.tsx'],
    ['two folders of which one begins like the other', 'src/run', 'src/runner/a.ts'],
    ['patterns in two folders', 'src/**', 'docs/**'],
    ['patterns of two kinds of file', 'src/**/*.ts', 'src/**/*.md'],
    ['a pattern and a file of another kind', 'src/*.ts', 'src/readme.md'],
    ['a pattern that only leaves out', '!src/a.ts', 'src/a.ts'],
    ['nothing, and anything', ' ', 'src/a.ts'],
  ])('never match the same path: %s', (_what, a, b) => {
    expect(mayShareAPath(a, b)).toBe(false)
    expect(mayShareAPath(b, a)).toBe(false)
  })

  test('that both match some path are always found to overlap', () => {
    const part = fc.constantFrom('a', 'b', 'ab', 'x.ts', 'y.md')
    const paths = fc.array(part, { minLength: 1, maxLength: 4 })
    // A glob made from a path by putting wildcards into it matches that path.
    const loosened = (path: readonly string[]) =>
      fc
        .array(fc.constantFrom('keep', 'star', 'deep', 'end'), {
          minLength: path.length,
          maxLength: path.length,
        })
        .map((how) =>
          path
            .map(
              (name, at) =>
                ({ keep: name, star: '*', deep: '**', end: `*${name.slice(-2)}` })[how[at]!],
            )
            .join('/'),
        )
    const pairs = paths.chain((path) => fc.tuple(loosened(path), loosened(path)))
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(mayShareAPath(a, b), `${a} and ${b}`).toBe(true)
      }),
    )
  })

  test('of any form compare the same both ways', () => {
    const glob = fc.string({
      unit: fc.constantFrom(
        'a',
        '/',
        '.',
        '*',
        '?',
        '[',
        ']',
        '{',
        '}',
        '!',
        '(',
        ')',
        '\\',
        '@',
        ' ',
      ),
    })
    fc.assert(
      fc.property(glob, glob, (a, b) => {
        expect(mayShareAPath(a, b)).toBe(mayShareAPath(b, a))
      }),
    )
  })
})
