// Which test framework, and where tests live.
import type { Finding, Look } from './finding.ts'
import { byCount, isForeign } from './languages.ts'
import { dependenciesOf } from './package-json.ts'

const JS_FRAMEWORKS = [
  'vitest',
  'jest',
  'mocha',
  'ava',
  'tap',
  'jasmine',
  '@playwright/test',
  'cypress',
  'uvu',
  'node:test',
]

/** How tests are named, and the framework where the name alone says it. */
const NAMED: readonly (readonly [name: RegExp, pattern: (match: RegExpExecArray) => string])[] = [
  [/\.(test|spec|e2e|cy)\.([cm]?[jt]sx?)$/, (match) => `*.${match[1]}.${match[2]}`],
  [/^test_[^/]*\.py$/, () => 'test_*.py'],
  [/_test\.(py|go|rb|dart|exs|cc|cpp)$/, (match) => `*_test.${match[1]}`],
  [/_spec\.rb$/, () => '*_spec.rb'],
  [/^[A-Z]\w*Tests?\.(java|kt|php|cs|swift|scala)$/, (match) => `*Test.${match[1]}`],
  [/^[A-Z]\w*(?:Spec)\.(scala|groovy|kt)$/, (match) => `*Spec.${match[1]}`],
]

const MAY_BE = /test|spec|e2e|\.cy\./i
const MOST = 3

/** The framework, then the places with most tests. */
export function testFindings(look: Look): readonly Finding[] {
  return [...frameworks(look), ...places(look)]
}

function frameworks(look: Look): readonly Finding[] {
  const dependencies = dependenciesOf(look)
  return JS_FRAMEWORKS.filter((name) => dependencies.has(name)).map((text) => ({
    topic: 'tests',
    text,
    from: 'package.json',
  }))
}

function places({ listing }: Look): readonly Finding[] {
  const counts = new Map<string, number>()
  for (const path of listing.paths) {
    const place = placeOf(path)
    if (place !== undefined && !isForeign(path.slice(0, path.lastIndexOf('/') + 1)))
      counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return byCount(counts)
    .slice(0, MOST)
    .map(([place, count]) => ({
      topic: 'tests',
      text: `${place} (${count})`,
      from: 'git ls-files',
    }))
}

/** A pattern such as `test/…/*.test.ts`: the folder at the root and how the file is named. */
function placeOf(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  // Most files are none, and are not held against each pattern.
  if (!MAY_BE.test(name)) return undefined
  for (const [named, pattern] of NAMED) {
    const match = named.exec(name)
    if (match !== null)
      return slash < 0 ? pattern(match) : `${path.slice(0, path.indexOf('/'))}/**/${pattern(match)}`
  }
  return undefined
}
