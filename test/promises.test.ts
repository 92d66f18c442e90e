import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Lines like `- test/journal/log.test.ts: title of the test`. */
function proofsIn(name: string): readonly { file: string; title: string }[] {
  const text = readFileSync(join(root, name), 'utf8')
  return [...text.matchAll(/^\s*- `(test\/[^`]+\.ts)`: (.+)$/gm)].map((match) => ({
    file: match[1]!,
    title: match[2]!,
  }))
}

/** Whether a title is in a test or a table of tests: other strings of the code are no proof. */
function isTitled(source: string, title: string): boolean {
  const titles = source
    .split('\n')
    .filter((line) => !/^import |^} from /.test(line) && /['"`]/.test(line))
  return titles.some((line) =>
    [...line.matchAll(/(['"`])(.*?[^\\])\1/g)].some((quoted) => quoted[2]!.includes(title)),
  )
}

describe('PROMISES.md', () => {
  test('names tests that exist', () => {
    const proofs = proofsIn('PROMISES.md')
    expect(proofs.length).toBeGreaterThan(10)
    const known = new Set(
      readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map(
        (name) => `test/${name}`,
      ),
    )
    const missing = proofs.filter(
      ({ file, title }) =>
        !known.has(file) || !isTitled(readFileSync(join(root, file), 'utf8'), title),
    )
    expect(missing).toEqual([])
  })

  test('proves every promise', () => {
    const promises = readFileSync(join(root, 'PROMISES.md'), 'utf8').split(/^## /m).slice(1)
    const unproved = promises
      .filter((promise) => !/^\s*- `test\//m.test(promise))
      .map((promise) => promise.split('\n')[0])
    expect(unproved).toEqual([])
  })
})

describe('test/track-record.md', () => {
  /** The rows of its tables without their headings. */
  function rows(): readonly (readonly string[])[] {
    const text = readFileSync(join(root, 'test/track-record.md'), 'utf8')
    return [...text.matchAll(/^\|[-|]+\|\n((?:\|.*\n)+)/gm)]
      .flatMap(([, table]) => table!.trimEnd().split('\n'))
      .map((row) => row.replace(/^\| | \|$/g, '').split(' | '))
  }

  const FAILURES = 17
  /** The file and function of each guard, and the tests that fail without it. The first table lists failures, without a guard. */
  const guards = () =>
    rows()
      .slice(FAILURES)
      .map(([, where = '', tests = '']) => ({ where, tests }))

  const filesIn = (...folders: readonly string[]) =>
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
  const named = (text: string) =>
    [...text.matchAll(/`([^`]+\.(?:tsx?|md))`/g)].map(([, name]) => name!)

  test('names for each guard source files that exist, and a function in them', () => {
    const sources = filesIn('src', 'web', 'docs')
    const matches = (name: string) => sources.filter((path) => `/${path}`.endsWith(`/${name}`))
    expect(guards().length).toBeGreaterThan(200)
    expect(rows()[FAILURES]![0]).toBe('newline in front of a record')
    expect(guards().filter(({ where }) => named(where).length === 0)).toEqual([])
    const unclear = guards()
      .flatMap(({ where }) => named(where))
      .filter((name) => matches(name).length !== 1)
    expect(unclear).toEqual([])
    const functions = guards().flatMap(({ where }) => [
      ...where.matchAll(/`([^`]+\.ts)` \(?`([A-Za-z]+)`/g),
    ])
    expect(functions.length).toBeGreaterThan(10)
    const missing = functions
      .filter(
        ([, file, name]) => !readFileSync(join(root, matches(file!)[0]!), 'utf8').includes(name!),
      )
      .map(([text]) => text)
    expect(missing).toEqual([])
  })

  test('names tests that exist', () => {
    const known = filesIn('test').filter((path) => path.endsWith('.ts'))
    const plain = (text: string) => text.replaceAll(/\\?['’`"]/g, '')
    const sources = new Map(
      known.map((path) => [path, plain(readFileSync(join(root, path), 'utf8'))]),
    )
    const missing: string[] = []
    for (const [, , tests = ''] of rows())
      for (const [, name, titles = ''] of tests.matchAll(
        /`([^`]+\.ts)`(?: \(\d+\))?(?:: (.*?))?(?=; `[^`]+\.ts`|$)/g,
      )) {
        // The tests of a contract are in test/contract/.
        const files = known.filter(
          (path) => path.endsWith(`/${name}`) || path.startsWith('test/contract/'),
        )
        if (!files.some((path) => path.endsWith(`/${name}`))) missing.push(name!)
        for (const title of titles.split('; ')) {
          if (title.startsWith('fixture')) continue
          // `…` is a parameter or the title of the group; parentheses hold what is no title.
          const pieces = plain(title.replace(/ \([^)]*\)$/, '')).split('…')
          const isFound = files.some((path) =>
            pieces.every((piece) => sources.get(path)!.includes(piece.trim())),
          )
          if (!isFound) missing.push(`${name}: ${title}`)
        }
      }
    expect(missing).toEqual([])
  })
})
