// What test runners say at their end. Each finder knows the lines of one of them that sum a run up.

export interface TestSummary {
  readonly isFailed: boolean
  readonly text: string
}

/** One runner's way to sum up. It is asked only about an output that has one of the words it always uses. */
interface Finder {
  readonly words: readonly string[]
  readonly find: (lines: readonly string[]) => TestSummary | undefined
}

/** How a run went, as its output sums it up. One that failed is told before others that went well. */
export function findSummary(lines: readonly string[]): TestSummary | undefined {
  const output = `${lines.join('\n')}\n`
  const asked = FINDERS.filter(({ words }) => words.some((word) => output.includes(word)))
  const found = asked.flatMap(({ find }) => find(lines) ?? [])
  return found.find(({ isFailed }) => isFailed) ?? found[0]
}

/** What whatever started the tests says when it could not, or knows no more than that they failed. */
export function findComplaint(lines: readonly string[]): string | undefined {
  const complaint = lines.find((line) => COMPLAINT.test(line))
  return complaint === undefined ? undefined : tidy(complaint)
}

const COMPLAINT = new RegExp(
  [
    String.raw`^\s*(?:g?make(?:\[\d+\])?: \*\*\*`,
    String.raw`npm (?:ERR!|error) (?:Missing|Test failed|Lifecycle|command failed|enoent Could not)`,
    String.raw`ERR_PNPM_|ELIFECYCLE|error Command failed|error: |error\[E\d+\]: |panic: |fatal: |BUILD FAILED`,
    String.raw`(?:\w+\.)*\w*(?:Error|Exception): |Command timed out)`,
    String.raw`: (?:command )?not found$|: No such file or directory$`,
  ].join('|'),
)

/** The last line that fits each of these patterns, joined. */
function last(
  words: string | readonly string[],
  patterns: readonly RegExp[],
  failed: RegExp,
): Finder {
  return {
    words: [words].flat(),
    find: (lines) => {
      const found = patterns.flatMap(
        (pattern) => lines.findLast((line) => pattern.test(line)) ?? [],
      )
      const text = found.map(tidy).join(', ')
      return text === '' ? undefined : { text, isFailed: failed.test(text) }
    },
  }
}

/** What every package or suite prints for itself. */
function each(
  words: readonly string[],
  pattern: RegExp,
  sumUp: (matches: readonly RegExpExecArray[]) => TestSummary,
): Finder {
  return {
    words,
    find: (lines) => {
      const matches = lines.map((line) => pattern.exec(line)).filter((match) => match !== null)
      return matches.length === 0 ? undefined : sumUp(matches)
    },
  }
}

const total = (matches: readonly RegExpExecArray[], group: number) =>
  matches.reduce((sum, match) => sum + Number(match[group] ?? 0), 0)

const go = each(
  ['ok  ', 'ok\t', 'FAIL', 'PASS'],
  /^(ok|FAIL)\s+([\w./-]+)\s+(\(cached\)|[\d.]+s|\[.+\])|^(FAIL|PASS)$/,
  (matches) => {
    const failed = matches.filter((match) => (match[1] ?? match[4]) === 'FAIL')
    const packages = failed.filter((match) => match[2] !== undefined)
    if (failed.length === 0) {
      const passed = matches.filter((match) => match[1] === 'ok').length
      return {
        isFailed: false,
        text: passed === 0 ? 'PASS' : `ok, ${passed} package${passed === 1 ? '' : 's'}`,
      }
    }
    const more = packages.length > 1 ? ` and ${packages.length - 1} more` : ''
    return {
      isFailed: true,
      text: packages.length === 0 ? 'FAIL' : `FAIL ${packages[0]![2]}${more}`,
    }
  },
)

const cargo = each(
  ['test result: '],
  /^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored/,
  (matches) => ({
    isFailed: matches.some((match) => match[1] === 'FAILED'),
    text: `${total(matches, 2)} passed; ${total(matches, 3)} failed; ${total(matches, 4)} ignored`,
  }),
)

const dotnet = each(
  ['Failed:'],
  /^\s*(Passed|Failed)!\s+-\s+Failed:\s*(\d+), Passed:\s*(\d+), Skipped:\s*(\d+)/,
  (matches) => ({
    isFailed: matches.some((match) => match[1] === 'Failed'),
    text: `Failed: ${total(matches, 2)}, Passed: ${total(matches, 3)}, Skipped: ${total(matches, 4)}`,
  }),
)

// Node prints its sum as comments of TAP, or with a sign of its own before them.
const nodeTest: Finder = {
  words: ['# fail ', 'ℹ fail '],
  find: (lines) => {
    const count = (name: string) =>
      lines.findLast((line) => new RegExp(`^(?:#|ℹ) ${name} \\d+$`).test(line))?.replace(/\D+/g, '')
    const [tests, passed, failed] = [count('tests'), count('pass'), count('fail')]
    if (failed === undefined || (tests === undefined && passed === undefined)) return undefined
    const cancelled = count('cancelled') ?? '0'
    return {
      isFailed: failed !== '0' || cancelled !== '0',
      text: `tests ${tests ?? '?'}, pass ${passed ?? '?'}, fail ${failed}`,
    }
  },
}

const tap: Finder = {
  words: ['ok 1'],
  find: (lines) => {
    const results = lines.filter((line) => /^(?:not )?ok \d+/.test(line))
    if (results.length === 0) return undefined
    const failed = results.filter(
      (line) => line.startsWith('not') && !/# (?:TODO|SKIP)\b/i.test(line),
    ).length
    return { isFailed: failed > 0, text: `${results.length - failed} ok, ${failed} not ok` }
  },
}

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
    return sum === undefined
      ? undefined
      : { isFailed: /(?:Failures|Errors): [1-9]/.test(sum), text: tidy(sum) }
  },
}

const PYTEST_WORDS = '(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun)'
const PYTEST = new RegExp(
  `^=*\\s*(?:no tests ran|\\d+ ${PYTEST_WORDS}(?:, \\d+ ${PYTEST_WORDS})*) in \\d[\\d.]*s`,
)

const FINDERS: readonly Finder[] = [
  // vitest
  last(
    ['Test Files ', 'Tests  '],
    [/^\s*Test Files\s+(?:\d|no )/, /^\s*Tests\s+(?:\d|no )/, /^\s*Errors\s+\d+ error/],
    /\d failed|Errors \d/,
  ),
  // jest
  last(
    ['Tests: ', 'Test Suites: '],
    [/^Test Suites:\s.*\btotal/, /^Tests:\s.*\btotal/],
    /[1-9]\d* failed/,
  ),
  // pest
  last('Tests: ', [/^\s*Tests:\s+.*(?:passed|failed).*assertions?\)/], /[1-9]\d* failed/),
  // mocha, and what runs it in a browser
  last([' passing', ' failing'], [/^\s*\d+ passing\b/, /^\s*\d+ failing\b/], /[1-9]\d* failing/),
  last([' failed (', 'All specs'], [/\d+ of \d+ failed \(\d+%\)/, /All specs passed!/], /failed/),
  // pytest: when nothing passed, nothing was tested
  last(
    [' in 0', ' in 1', ' in 2', ' in 3', ' in 4', ' in 5', ' in 6', ' in 7', ' in 8', ' in 9'],
    [PYTEST],
    /\d (?:failed|error)|^(?!.*\d (?:passed|skipped|xfailed|xpassed))/,
  ),
  unittest,
  go,
  last('DONE ', [/^DONE \d+ tests?.* in [\d.]+s/], /[1-9]\d* (?:failure|error)/),
  cargo,
  last(
    'Summary [',
    [/^\s*Summary \[.*\] +\d+ tests? run:/],
    /[1-9]\d* (?:failed|timed out|exec failed)/,
  ),
  last('error: ', [/^error: (?:could not compile|test failed)/], /./),
  nodeTest,
  tap,
  // rspec, hspec and Crystal
  last(' example', [/^\s*\d+ examples?, \d+ failures?/], /[1-9]\d* (?:failure|error)/),
  // minitest and Clojure
  last(
    ' assertions, ',
    [/^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/],
    /[1-9]\d* (?:failures|errors)/,
  ),
  last(
    'tests containing',
    [/^Ran \d+ tests containing \d+ assertions/, /^\d+ failures, \d+ errors\./],
    /[1-9]\d* (?:failures|errors)/,
  ),
  phpunit,
  dotnet,
  last(
    ['Test Run ', 'Test run summary'],
    [/^Test Run (?:Failed|Successful)\./, /^\s*Test run summary: (?:Passed|Failed)!/],
    /Failed/,
  ),
  // Maven
  last(
    'Tests run: ',
    [/Tests run: \d+, Failures: \d+, Errors: \d+(?!.*Time elapsed)/],
    /(?:Failures|Errors): [1-9]/,
  ),
  last('BUILD ', [/^(?:\[\w+\] )?BUILD (?:SUCCESS|FAILURE)\b/], /FAILURE/),
  // Gradle
  last(' completed, ', [/^\d+ tests? completed, \d+ failed/], /[1-9]\d* failed/),
  last('BUILD ', [/^BUILD (?:SUCCESSFUL|FAILED) in /], /FAILED/),
  // ctest
  last(
    '% tests passed',
    [/\d+% tests passed, \d+ tests? failed out of \d+/],
    /[1-9]\d* tests? failed/,
  ),
  // ExUnit and bats
  last(
    ' failure',
    [/^(?:\d+ (?:doctests?|propert(?:y|ies)), )*\d+ tests?, \d+ failures?/],
    /[1-9]\d* failure/,
  ),
  // Swift
  last(
    'Executed ',
    [/Executed \d+ tests?, with (?:\d+ tests? skipped and )?\d+ failures?/],
    /[1-9]\d* failures?/,
  ),
  last('Test run with', [/Test run with \d+ tests?.* (?:passed|failed) after/], /failed after/),
  last('** TEST', [/^\*\* TEST (?:SUCCEEDED|FAILED) \*\*/], /FAILED/),
  // Deno
  last(' passed | ', [/^(?:ok|FAILED) \| \d+ passed.*\| \d+ failed/], /^FAILED/),
  // Bun
  last([' pass\n', ' fail\n'], [/^\s*\d+ pass$/, /^\s*\d+ fail$/], /[1-9]\d* fail/),
  // Playwright
  last(
    [' passed (', ' failed', ' interrupted'],
    [/^\s+\d+ (?:failed|interrupted|did not run)$/, /^\s+\d+ flaky$/, /^\s+\d+ passed \(/],
    /\d (?:failed|interrupted)/,
  ),
  // AVA
  last(
    [' passed', ' failed', 'uncaught'],
    [/^\s*\d+ tests? failed$/, /^\s*\d+ tests? passed$/, /^\s*\d+ uncaught exceptions?$/],
    /failed|uncaught/,
  ),
  // ScalaTest and sbt
  last('Tests: succeeded', [/Tests: succeeded \d+, failed \d+/], /failed [1-9]/),
  last(
    ': Total ',
    [/(?:Passed|Failed|Error): Total \d+, Failed \d+, Errors \d+/],
    /(?:Failed|Errors) [1-9]/,
  ),
  // Bazel
  last('Executed ', [/^Executed \d+ out of \d+ tests?: /], /\d+ fails?\b/),
  // tasty, Zig and cabal
  last('tests passed', [/^All \d+ tests passed/], /^$/),
  last(
    [' tests failed', ' passed; '],
    [/^\d+ out of \d+ tests failed/, /^\d+ passed; (?:\d+ skipped; )?\d+ failed\./],
    /(?:tests|[1-9]\d*) failed/,
  ),
  last('tests passed', [/^\s*(?:Build Summary: .*)?\d+\/\d+ tests passed/], /[1-9]\d* failed/),
  last('Test suite ', [/^Test suite \S+: (?:PASS|FAIL)/], /FAIL/),
  // Flutter and Dart
  last(
    ['All tests passed!', 'Some tests failed.'],
    [/^\d+:\d+ \+\d+.*: (?:All tests passed!|Some tests failed\.)/],
    /Some tests failed/,
  ),
  // tox and nox
  last(
    ['congratulations :)', 'evaluation failed'],
    [/^\s*(?:congratulations :\)|evaluation failed :\()/],
    /failed/,
  ),
  last('nox > ', [/^nox > Session \S+ (?:was successful|failed)/], /failed/),
  // Automake and Meson
  last(
    '# TOTAL:',
    [/^# TOTAL:\s+\d+/, /^# FAIL:\s+\d+/, /^# ERROR:\s+\d+/],
    /(?:FAIL|ERROR): [1-9]/,
  ),
  last('Fail:', [/^Ok:\s+\d+/, /^Fail:\s+\d+/], /Fail: [1-9]/),
  // prove and busted
  last('Result: ', [/^Result: (?:PASS|FAIL|NOTESTS)/], /FAIL|NOTESTS/),
  last(
    ' success',
    [/^\d+ success(?:es)? \/ \d+ failures? \/ \d+ errors?/],
    /[1-9]\d* (?:failure|error)/,
  ),
]

/** A line without the rules that it is drawn with. */
function tidy(line: string): string {
  return line
    .replace(/^[\s=#ℹ✖✔✘|─-]+/, '')
    .replace(/[\s=─]+$/, '')
    .replace(/\s+/g, ' ')
}
