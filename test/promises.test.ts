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
  /** The rows of its guards: the file and function of each guard, and the tests that fail without it. */
  function guards(): readonly { readonly where: string; readonly tests: string }[] {
    const rows = readFileSync(join(root, 'test/track-record.md'), 'utf8').split('\n')
    return rows
      .map((row) => row.split(' | '))
      .filter((cells) => cells.length === 3 && /\.(tsx?|md)`/.test(cells[1]!))
      .map((cells) => ({ where: cells[1]!, tests: cells[2]! }))
  }

  const filesIn = (...folders: readonly string[]) =>
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
  const named = (text: string) =>
    [...text.matchAll(/`([^`]+\.(?:tsx?|md))`/g)].map(([, name]) => name!)

  test('names for each guard one source file, and a function in it', () => {
    const sources = filesIn('src', 'web', 'docs')
    const matches = (name: string) => sources.filter((path) => `/${path}`.endsWith(`/${name}`))
    expect(guards().length).toBeGreaterThan(200)
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

  test('names test files that exist', () => {
    const known = filesIn('test')
    const missing = guards()
      .flatMap(({ tests }) => named(tests))
      .filter((name) => !known.some((path) => path.endsWith(`/${name}`)))
    expect(missing).toEqual([])
  })
})
