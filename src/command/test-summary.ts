export interface TestSummary {
  readonly isFailed: boolean
  readonly text: string
}

/** Runs only if the output contains one of the words. */
interface Finder {
  readonly words: readonly string[]
  readonly find: (lines: readonly string[]) => TestSummary | undefined
}

/** A failed summary takes precedence. */
export function findSummary(lines: readonly string[]): TestSummary | undefined {
  const output = `${lines.join('\n')}\n`
  const applicable = FINDERS.filter(({ words }) => words.some((word) => output.includes(word)))
  const found = applicable.flatMap(({ find }) => find(lines) ?? [])
  return found.find(({ isFailed }) => isFailed) ?? found[0]
}

export function findErrorLine(lines: readonly string[]): string | undefined {
  const found = lines.find((line) => ERROR_LINE.test(line))
  return found === undefined ? undefined : tidy(found)
}

const ERROR_LINE = new RegExp(
  [
    String.raw`^\s*(?:g?make(?:\[\d+\])?: \*\*\*`,
    String.raw`npm (?:ERR!|error) (?:Missing|Test failed|Lifecycle|command failed|enoent Could not)`,
    String.raw`ERR_PNPM_|ELIFECYCLE|error Command failed|error: |error\[E\d+\]: |panic: |fatal: |BUILD FAILED`,
    String.raw`(?:\w+\.)*\w*(?:Error|Exception): |Command timed out)`,
    String.raw`: (?:command )?not found$|: No such file or directory$`,
  ].join('|'),
)

export function failingTests(lines: readonly string[], most: number): readonly string[] {
  const output = lines.join('\n')
  const patterns = NAME_PATTERNS.filter(([sign]) => output.includes(sign))
  const names = new Set<string>()
  for (const line of lines) {
    const name = patterns
      .map(([, pattern]) => pattern.exec(line)?.[1]?.trim())
      .find((found) => found !== undefined && found !== '')
    if (name !== undefined) names.add(name)
    if (names.size === most) break
  }
  return [...names]
}

/** Each with a text that every matching output contains. */
const NAME_PATTERNS: readonly (readonly [sign: string, pattern: RegExp])[] = [
  // vitest, jest
  ['FAIL ', /^\s*FAIL\s+(\S.* > .+?)$/],
  ['●', /^\s*● (.+ › .+)$/],
  // pytest, unittest
  ['::', /^(?:FAILED|ERROR) (\S+::\S.*?)(?: - .*)?$/],
  ['FAIL: ', /^(?:FAIL|ERROR): (\w\S*)(?: \(.*\))?$/],
  ['ERROR: ', /^ERROR: (\w\S*) \(.*\)$/],
  // go, cargo, nextest
  ['--- FAIL', /^\s*--- FAIL: (\S+)/],
  ['... FAILED', /^test (\S+) \.\.\. FAILED$/],
  ['FAIL [', /^\s*FAIL \[.*?\]\s+(.+)$/],
  // TAP, node
  ['not ok', /^\s*not ok \d+ (?:- )?(?!.*# (?:TODO|SKIP))(.+)$/i],
  ['✖', /^\s*✖ (.+?) \([\d.]+m?s\)$/],
  // mocha, ExUnit, PHPUnit, Playwright
  ['1) ', /^\s+\d+\) (?:test )?(\S.*?):?(?: ─+)?$/],
  ['1) ', /^\d+\) (\S+::\S+.*)$/],
  // rspec
  ['rspec ', /^rspec (\S+(?: # .*)?)$/],
  // dotnet, Gradle, Maven
  [' Failed ', /^\s+Failed (\S+)(?: \(.*\))? \[/],
  [' > ', /^(\S.* > .+?)(?:\(\))? FAILED$/],
  ['[ERROR]', /^\[ERROR\]\s+(\w+[.#]\w+):\d+/],
  // ctest
  [' - ', /^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|.*Exception.*)\)/],
  // bun, deno, bats, AVA
  ['(fail) ', /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/],
  [' ... ', /^(\S.*?) \.\.\. .*FAILED/],
  ['✗', /^\s*✗ (.+)$/],
  ['✘', /^\s*✘ \[fail\]: (.+)$/],
  // Flutter, Bazel, Swift
  ['[E]', /: (.+) \[E\]$/],
  ['//', /^(\/\/\S+)\s.*FAILED/],
  ['Test Case ', /^Test Case '(.+)' failed/],
  // Used by several runners, so they come last.
  ['×', /^\s*× (.+?)(?: \(?\d+ ?m?s\)?)?$/],
  ['✕', /^\s*✕ (.+?)(?: \(?\d+ ?m?s\)?)?$/],
]

function lastLine(
  words: string | readonly string[],
  patterns: RegExp | readonly RegExp[],
  failed: RegExp,
): Finder {
  const find = (lines: readonly string[]) => {
    const found = [patterns].flat().flatMap((one) => lines.findLast((line) => one.test(line)) ?? [])
    const text = found.map(tidy).join(', ')
    return text === '' ? undefined : { text, isFailed: failed.test(text) }
  }
  return { words: [words].flat(), find }
}

function everyLine(
  words: readonly string[],
  pattern: RegExp,
  sumUp: (matches: readonly RegExpExecArray[]) => TestSummary,
): Finder {
  const find = (lines: readonly string[]) => {
    const matches = lines.map((line) => pattern.exec(line)).filter((match) => match !== null)
    return matches.length === 0 ? undefined : sumUp(matches)
  }
  return { words, find }
}

const total = (matches: readonly RegExpExecArray[], group: number) =>
  matches.reduce((sum, match) => sum + Number(match[group] ?? 0), 0)

const go = everyLine(
  ['ok  ', 'ok\t', 'FAIL', 'PASS'],
  /^(ok|FAIL)\s+([\w./-]+)\s+(\(cached\)|[\d.]+s|\[.+\])|^(FAIL|PASS)$/,
  (matches) => {
    const failed = matches.filter((match) => (match[1] ?? match[4]) === 'FAIL')
    if (failed.length === 0) {
      const passed = matches.filter((match) => match[1] === 'ok').length
      const text = passed === 0 ? 'PASS' : `ok, ${passed} package${passed === 1 ? '' : 's'}`
      return { isFailed: false, text }
    }
    const [first, ...others] = failed.flatMap((match) => match[2] ?? [])
    const more = others.length > 0 ? ` and ${others.length} more` : ''
    return { isFailed: true, text: first === undefined ? 'FAIL' : `FAIL ${first}${more}` }
  },
)

const cargo = everyLine(
  ['test result: '],
  /^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored/,
  (matches) => ({
    isFailed: matches.some((match) => match[1] === 'FAILED'),
    text: `${total(matches, 2)} passed; ${total(matches, 3)} failed; ${total(matches, 4)} ignored`,
  }),
)

const dotnet = everyLine(
  ['Failed:'],
  /^\s*(Passed|Failed)!\s+-\s+Failed:\s*(\d+), Passed:\s*(\d+), Skipped:\s*(\d+)/,
  (matches) => ({
    isFailed: matches.some((match) => match[1] === 'Failed'),
    text: `Failed: ${total(matches, 2)}, Passed: ${total(matches, 3)}, Skipped: ${total(matches, 4)}`,
  }),
)

// Node prints its totals as TAP comments, or with an ℹ.
const nodeTest: Finder = {
  words: ['# fail ', 'ℹ fail '],
  find: (lines) => {
    const count = (name: string) =>
      lines.findLast((line) => new RegExp(`^(?:#|ℹ) ${name} \\d+$`).test(line))?.replace(/\D+/g, '')
    const [tests, passed, failed] = [count('tests'), count('pass'), count('fail')]
    if (failed === undefined || (tests === undefined && passed === undefined)) return undefined
    return {
      isFailed: failed !== '0' || (count('cancelled') ?? '0') !== '0',
      text: `tests ${tests ?? '?'}, pass ${passed ?? '?'}, fail ${failed}`,
    }
  },
}

const tap = everyLine(['ok 1'], /^(not )?ok \d+(.*)/, (matches) => {
  const failed = matches.filter(
    (match) => match[1] !== undefined && !/# (?:TODO|SKIP)\b/i.test(match[2]!),
  ).length
  return { isFailed: failed > 0, text: `${matches.length - failed} ok, ${failed} not ok` }
})

const unittest: Finder = {
  words: ['Ran '],
  find: (lines) => {
    const ran = lines.findLast((line) => /^Ran \d+ tests? in /.test(line))
    const verdict = lines.findLast((line) => /^(?:OK|FAILED|NO TESTS RAN)\b/.test(line))
    if (ran === undefined || verdict === undefined) return undefined
    return { isFailed: !verdict.startsWith('OK'), text: `${ran}: ${verdict}` }
  },
}

const phpunit: Finder = {
  words: ['OK (', 'OK, but', 'Assertions: '],
  find: (lines) => {
    const good = lines.findLast((line) => /^OK(?: \(|, but )/.test(line))
    if (good !== undefined) return { isFailed: false, text: tidy(good) }
    const sum = lines.findLast((line) => /^Tests: \d+, Assertions: \d+/.test(line))
    if (sum === undefined) return undefined
    return { isFailed: FAILURES_COUNTED.test(sum), text: tidy(sum) }
  },
}

const SOME_FAILED = /[1-9]\d* failed/
const SOME_FAILURES = /[1-9]\d* (?:failure|error)/
const FAILURES_COUNTED = /(?:Failures|Errors): [1-9]/

const PYTEST_WORDS = '(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun)'
const PYTEST = new RegExp(
  `^=*\\s*(?:no tests ran|\\d+ ${PYTEST_WORDS}(?:, \\d+ ${PYTEST_WORDS})*) in \\d[\\d.]*s`,
)

const FINDERS: readonly Finder[] = [
  // vitest
  lastLine(
    ['Test Files ', 'Tests  '],
    [/^\s*Test Files\s+(?:\d|no )/, /^\s*Tests\s+(?:\d|no )/, /^\s*Errors\s+\d+ error/],
    /\d failed|Errors \d/,
  ),
  // jest
  lastLine(
    ['Tests: ', 'Test Suites: '],
    [/^Test Suites:\s.*\btotal/, /^Tests:\s.*\btotal/],
    SOME_FAILED,
  ),
  // pest
  lastLine('Tests: ', /^\s*Tests:\s+.*(?:passed|failed).*assertions?\)/, SOME_FAILED),
  // mocha, and Cypress
  lastLine(
    [' passing', ' failing'],
    [/^\s*\d+ passing\b/, /^\s*\d+ failing\b/],
    /[1-9]\d* failing/,
  ),
  lastLine(
    [' failed (', 'All specs'],
    [/\d+ of \d+ failed \(\d+%\)/, /All specs passed!/],
    /failed/,
  ),
  // pytest: a failure if nothing passed
  lastLine(
    [...'0123456789'].map((digit) => ` in ${digit}`),
    PYTEST,
    /\d (?:failed|error)|^(?!.*\d (?:passed|skipped|xfailed|xpassed))/,
  ),
  unittest,
  go,
  lastLine('DONE ', /^DONE \d+ tests?.* in [\d.]+s/, SOME_FAILURES),
  cargo,
  lastLine(
    'Summary [',
    /^\s*Summary \[.*\] +\d+ tests? run:/,
    /[1-9]\d* (?:failed|timed out|exec failed)/,
  ),
  lastLine('error: ', /^error: (?:could not compile|test failed)/, /./),
  nodeTest,
  tap,
  // rspec, hspec and Crystal
  lastLine(' example', /^\s*\d+ examples?, \d+ failures?/, SOME_FAILURES),
  // minitest and Clojure
  lastLine(
    ' assertions, ',
    /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/,
    SOME_FAILURES,
  ),
  lastLine(
    'tests containing',
    [/^Ran \d+ tests containing \d+ assertions/, /^\d+ failures, \d+ errors\./],
    SOME_FAILURES,
  ),
  phpunit,
  dotnet,
  lastLine(
    ['Test Run ', 'Test run summary'],
    [/^Test Run (?:Failed|Successful)\./, /^\s*Test run summary: (?:Passed|Failed)!/],
    /Failed/,
  ),
  // Maven
  lastLine(
    'Tests run: ',
    /Tests run: \d+, Failures: \d+, Errors: \d+(?!.*Time elapsed)/,
    FAILURES_COUNTED,
  ),
  lastLine('BUILD ', /^(?:\[\w+\] )?BUILD (?:SUCCESS|FAILURE)\b/, /FAILURE/),
  // Gradle
  lastLine(' completed, ', /^\d+ tests? completed, \d+ failed/, SOME_FAILED),
  lastLine('BUILD ', /^BUILD (?:SUCCESSFUL|FAILED) in /, /FAILED/),
  // ctest
  lastLine(
    '% tests passed',
    /\d+% tests passed, \d+ tests? failed out of \d+/,
    /[1-9]\d* tests? failed/,
  ),
  // ExUnit and bats
  lastLine(
    ' failure',
    /^(?:\d+ (?:doctests?|propert(?:y|ies)), )*\d+ tests?, \d+ failures?/,
    SOME_FAILURES,
  ),
  // Swift
  lastLine(
    'Executed ',
    /Executed \d+ tests?, with (?:\d+ tests? skipped and )?\d+ failures?/,
    SOME_FAILURES,
  ),
  lastLine('Test run with', /Test run with \d+ tests?.* (?:passed|failed) after/, /failed after/),
  lastLine('** TEST', /^\*\* TEST (?:SUCCEEDED|FAILED) \*\*/, /FAILED/),
  // Deno
  lastLine(' passed | ', /^(?:ok|FAILED) \| \d+ passed.*\| \d+ failed/, /^FAILED/),
  // Bun
  lastLine([' pass\n', ' fail\n'], [/^\s*\d+ pass$/, /^\s*\d+ fail$/], /[1-9]\d* fail/),
  // Playwright
  lastLine(
    [' passed (', ' failed', ' interrupted'],
    [/^\s+\d+ (?:failed|interrupted|did not run)$/, /^\s+\d+ flaky$/, /^\s+\d+ passed \(/],
    /\d (?:failed|interrupted)/,
  ),
  // AVA
  lastLine(
    [' passed', ' failed', 'uncaught'],
    [/^\s*\d+ tests? failed$/, /^\s*\d+ tests? passed$/, /^\s*\d+ uncaught exceptions?$/],
    /failed|uncaught/,
  ),
  // ScalaTest and sbt
  lastLine('Tests: succeeded', /Tests: succeeded \d+, failed \d+/, /failed [1-9]/),
  lastLine(
    ': Total ',
    /(?:Passed|Failed|Error): Total \d+, Failed \d+, Errors \d+/,
    /(?:Failed|Errors) [1-9]/,
  ),
  // Bazel
  lastLine('Executed ', /^Executed \d+ out of \d+ tests?: /, /\d+ fails?\b/),
  // tasty, Zig and cabal
  lastLine('tests passed', /^All \d+ tests passed/, /^$/),
  lastLine(
    [' tests failed', ' passed; '],
    [/^\d+ out of \d+ tests failed/, /^\d+ passed; (?:\d+ skipped; )?\d+ failed\./],
    /(?:tests|[1-9]\d*) failed/,
  ),
  lastLine('tests passed', /^\s*(?:Build Summary: .*)?\d+\/\d+ tests passed/, SOME_FAILED),
  lastLine('Test suite ', /^Test suite \S+: (?:PASS|FAIL)/, /FAIL/),
  // Flutter and Dart
  lastLine(
    ['All tests passed!', 'Some tests failed.'],
    /^\d+:\d+ \+\d+.*: (?:All tests passed!|Some tests failed\.)/,
    /Some tests failed/,
  ),
  // tox and nox
  lastLine(
    ['congratulations :)', 'evaluation failed'],
    /^\s*(?:congratulations :\)|evaluation failed :\()/,
    /failed/,
  ),
  lastLine('nox > ', /^nox > Session \S+ (?:was successful|failed)/, /failed/),
  // Automake and Meson
  lastLine(
    '# TOTAL:',
    [/^# TOTAL:\s+\d+/, /^# FAIL:\s+\d+/, /^# ERROR:\s+\d+/],
    /(?:FAIL|ERROR): [1-9]/,
  ),
  lastLine('Fail:', [/^Ok:\s+\d+/, /^Fail:\s+\d+/], /Fail: [1-9]/),
  // prove and busted
  lastLine('Result: ', /^Result: (?:PASS|FAIL|NOTESTS)/, /FAIL|NOTESTS/),
  lastLine(' success', /^\d+ success(?:es)? \/ \d+ failures? \/ \d+ errors?/, SOME_FAILURES),
]

function tidy(line: string) {
  return line
    .replace(/^[\s=#ℹ✖✔✘|─-]+/, '')
    .replace(/[\s=─]+$/, '')
    .replace(/\s+/g, ' ')
}
