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
