import { describe, expect, test } from 'vitest'
import type { FailedCommand } from '../../src/command/failed-command.ts'
import {
  NO_OBSERVATIONS,
  type Observations,
  mergeObservations,
} from '../../src/command/merge-observations.ts'
import { observationLines } from '../../src/command/observation-lines.ts'
import { observeCommand } from '../../src/command/observe-command.ts'

type Step = readonly [command: string, output?: string, isError?: boolean]

function after(...steps: readonly Step[]): Observations {
  let known = NO_OBSERVATIONS
  let failed: readonly FailedCommand[] = []
  for (const [command, output = '', isError = false] of steps) {
    const next = observeCommand({ command, output, isError, cwd: '/home/me/shop' }, failed)
    known = mergeObservations(known, next)
    if (next.failed !== undefined) failed = [...failed, next.failed].slice(-8)
  }
  return known
}

const lines = (...steps: readonly Step[]) => observationLines(after(...steps))

const RED =
  'not ok 1 - adds\n  ---\n  expected: 3\n  actual: 2\n  ...\n# tests 1\n# pass 0\n# fail 1'
const ALSO_RED = `${RED.replace('# tests', 'not ok 2 - subtracts\n  ---\n  error: off\n  ...\n# tests')}`
const GREEN = 'ok 1 - adds\n# tests 1\n# pass 1\n# fail 0'
const CRASH = 'TypeError: no door\n    at open (/home/me/shop/src/door.js:3:1)'

describe('a failing test', () => {
  test('is known with its assertion and its command', () => {
    expect(lines(['node --test', RED, true])).toEqual([
      'failing test "adds": expected 3, got 2 (node --test)',
    ])
  })

  test('is dropped once the same command passes', () => {
    expect(lines(['node --test', RED, true], ['node --test', GREEN])).toEqual([])
  })

  test('is dropped once another command shows it as passed', () => {
    expect(
      lines(['node --test', RED, true], ['node --test test/a.js | head -1', 'ok 1 - adds']),
    ).toEqual([])
    const suite = '--- FAIL: TestA (0.0s)\n    a_test.go:1: off\nFAIL'
    expect(
      lines(
        ['go test ./...', suite, true],
        ['go test -v -run TestA ./...', '--- PASS: TestA (0.0s)\nPASS'],
      ),
    ).toEqual([])
  })

  test('is dropped if the command fails without it', () => {
    expect(lines(['node --test', ALSO_RED, true], ['node --test', RED, true])).toHaveLength(1)
  })

  test('stays when another file passes, or a reader shows its name', () => {
    expect(
      lines(
        ['node --test a.test.js', RED, true],
        ['node --test b.test.js', 'ok 1 - other\n# tests 1\n# pass 1\n# fail 0'],
      ),
    ).toHaveLength(1)
    expect(lines(['node --test', RED, true], ['cat old.log', GREEN])).toHaveLength(1)
  })
})

describe('an error', () => {
  test('is dropped once the same command succeeds, alone or after an edit', () => {
    expect(lines(['node a.mjs', CRASH, true])).toEqual([
      'TypeError at src/door.js:3: no door (node a.mjs)',
    ])
    expect(lines(['node a.mjs', CRASH, true], ['node a.mjs'])).toEqual([])
    expect(lines(['node a.mjs', CRASH, true], [`sed -i '/x/d' src/door.js && node a.mjs`])).toEqual(
      ['written by a command: src/door.js'],
    )
  })

  test('is dropped once the same tool accepts the file', () => {
    const wrong = '/home/me/shop/src/a.js\n  3:7  error  broken  no-x\n'
    expect(lines(['npx eslint src', wrong, true], ['npx eslint src/a.js'])).toEqual([])
    expect(lines(['npx eslint src', wrong, true], ['npx eslint src/b.js'])).toHaveLength(1)
  })

  test('stays if the script works only with another environment', () => {
    expect(lines(['node src/door.js', CRASH, true], ['LIST=x node src/door.js'])).toEqual([
      'TypeError at src/door.js:3: no door (node src/door.js)',
      'works: LIST=x node src/door.js (failed without)',
    ])
  })

  test('is replaced by what the command reports now', () => {
    const moved = CRASH.replace(':3:', ':5:')
    expect(lines(['node a.mjs', CRASH, true], ['node a.mjs', moved, true])).toEqual([
      'TypeError at src/door.js:5: no door (node a.mjs)',
    ])
  })

  test('is dropped with its file', () => {
    expect(lines(['node a.mjs', CRASH, true], ['git rm src/door.js'])).toEqual([])
  })
})

describe('a version', () => {
  test('is replaced by a newer one of the same subject', () => {
    expect(
      lines(['cat vendor/ring/VERSION', '0.6.3'], ['head vendor/ring/VERSION', '0.7.0']),
    ).toEqual(['ring is 0.7.0 (head vendor/ring/VERSION)'])
  })

  test('of the package keeps its name when npm raises it', () => {
    expect(
      lines(['node scripts/about.mjs', 'shop 1.8.2\nlua 5.1.5'], ['npm version minor', 'v1.9.0']),
    ).toEqual(['lua is 5.1.5 (node scripts/about.mjs)', 'shop is 1.9.0 (npm version minor)'])
  })
})

describe('what works', () => {
  const refused: Step = ['node export.mjs --tenant=a', 'unknown option', true]

  test('is shown with what failed', () => {
    expect(lines(refused, ['node export.mjs --account=a'])).toEqual([
      'works: node export.mjs --account=a (failed with --tenant=a)',
    ])
  })

  test('replaces an older one with the same purpose', () => {
    expect(
      after(refused, ['node export.mjs --account=a'], ['node export.mjs --account=b']).worked,
    ).toHaveLength(1)
  })

  test('is dropped once it fails', () => {
    expect(
      after(
        refused,
        ['node export.mjs --account=a'],
        ['node export.mjs --account=a', 'refused', true],
      ).worked,
    ).toEqual([])
  })
})

test('a written path is dropped when it is removed or moved', () => {
  expect(lines(['touch docs/a.md b.md'], ['(cd docs && git mv a.md c.md)'], ['rm b.md'])).toEqual([
    'written by a command: docs/c.md',
  ])
})

describe('a commit', () => {
  test('is replaced by its amendment', () => {
    expect(lines([`git commit -m 'Raise to 80'`], [`git commit --amend -m 'Raise to 75'`])).toEqual(
      ['commit: Raise to 75'],
    )
  })

  test('is dropped when it is reverted, or its only files are removed', () => {
    const output =
      '[main a31ff9b] Cache\n 1 file changed, 1 insertion(+)\n create mode 100644 src/cache.js'
    expect(lines([`git commit -m Cache`, output], ['git rm src/cache.js'])).toEqual([])
    expect(lines([`git commit -m Cache`], [`git commit -m 'Revert "Cache"'`])).toEqual([
      'commit: Revert "Cache"',
    ])
  })
})

test('only the most recent are kept', () => {
  const many = Array.from({ length: 60 }, (_, index): Step => [`touch file-${index}`])
  const { written } = after(...many)
  expect(written).toHaveLength(40)
  expect(written.at(-1)?.path).toBe('file-59')
})
