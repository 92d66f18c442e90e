// How test runners tell of a test that failed.
import type { Rule } from './rule.ts'

const failure = 'failure'
/** The first thing said that is neither a rule drawn across the page nor a piece of source. */
const SAID =
  /^(?!\s*(?:[-=⎯─_]{3,}|>?\s*\d+\s*\||\||at .*(?::\d+|\()|- Expected|\+ Received|\+ expected - actual|\S+:\d+$)\s*)(?<d>\s*\S.*)$/
const STACK = /(?:\(|at |❯ .*?)(?<where>(?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/

export const TEST_RULES: readonly Rule[] = [
  // vitest
  {
    level: failure,
    pattern: /^\s*FAIL\s+(?:\|[^|]+\|\s+)?(?<title>\S.* > .+?)$/,
    follow: { lines: 60, until: /^⎯{3,}|^\s*FAIL\s/, detail: SAID, most: 1, where: STACK },
  },
  {
    level: failure,
    pattern: /^\s*FAIL\s+(?<title>\S+) \[ .* \]$/,
    follow: { lines: 40, until: /^⎯{3,}/, detail: SAID, most: 1, where: STACK },
  },
  // jest
  {
    level: failure,
    pattern: /^ {2}● (?!Console$|Validation |Deprecation )(?<title>\S.*)$/,
    follow: {
      lines: 60,
      until: /^ {2}● |^(?:PASS|FAIL|Tests:|Test Suites:) /,
      detail: SAID,
      most: 3,
      where: STACK,
    },
  },
  // mocha, rspec, ExUnit
  {
    level: failure,
    pattern: /^ {1,4}\d+\) (?<title>\S.*)$/,
    needs: 'numbered',
    follow: {
      lines: 40,
      detail: SAID,
      most: 4,
      where: /(?:# |\()(?<where>\.?\/?[^()\s]+:\d+(?::\d+)?)(?::in .*)?\)?$/,
    },
  },
  // TAP, as Node's runner and others write it
  {
    level: failure,
    pattern: /^\s*not ok \d+ (?:- )?(?<title>(?!.*# (?:TODO|SKIP)).+)$/i,
    follow: {
      lines: 40,
      until: /^\s*\.\.\.$/,
      drop: /failureType: 'subtestsFailed'/,
      detail:
        /^\s*(?:error: ['"](?<d>.+)['"]$|(?!\w+:(?: |$)|---|async |node:|.*(?::\d+:\d+\)?|\(<anonymous>\))$)\S.*)/,
      most: 2,
      where: /^\s*(?:location|at): ['"]?(?<where>[^'"]+:\d+:\d+)/,
    },
  },
  // Node's runner, for people
  {
    level: failure,
    pattern: /^test at (?<where>\S.*:\d+:\d+)$/,
    follow: {
      lines: 14,
      title: /^✖ (?<title>.+?) \([\d.]+ms\)$/,
      drop: /^✖ .*# (?:TODO|SKIP)/,
      until: /^test at /,
      detail: SAID,
      most: 2,
    },
  },
  { level: failure, pattern: /^\s*✖ (?<title>.+?) \([\d.]+ms\)$/, isEcho: true },
  // pytest
  {
    level: failure,
    pattern: /^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(?<title>\S.*?) _{3,}$/,
    follow: {
      lines: 200,
      until: /^_{3,} |^={3,}/,
      detail: /^E {2,}(?<d>\S.*)$/,
      most: 2,
      where: /^(?<where>[^\s:]+\.py:\d+): /,
      isLastPlace: true,
    },
  },
  // unittest
  {
    level: failure,
    pattern: /^(?:FAIL|ERROR): (?<title>\w\S*(?: \(.*\))?)$/,
    follow: {
      lines: 80,
      until: /^={20,}$|^Ran \d+ test/,
      detail: /^(?<d>[A-Za-z_][\w.]*(?:: .*)?)$/,
      most: 1,
      where: /^\s+File "(?<file>[^"]+)", line (?<line>\d+)/,
      isLastPlace: true,
    },
  },
  // go
  {
    level: failure,
    pattern: /^\s*--- FAIL: (?<title>\S+)/,
    before: /^\s+(?<where>\S+\.go:\d+): (?<d>\S.*)$/,
    follow: {
      lines: 30,
      until: /^(?:FAIL|ok|PASS|===|exit status)/,
      detail: /^\s+(?:\S+\.go:\d+: (?<d>\S.*)|(?:Error:|expected\s*:|actual\s*:)\s*\S.*)$/,
      most: 3,
      where: /^\s+(?:Error Trace:\s+)?(?<where>\S+\.go:\d+)/,
    },
  },
  // cargo
  {
    level: failure,
    pattern: /^---- (?<title>\S+)(?: - .*)? stdout ----$/,
    follow: {
      lines: 30,
      until: /^(?:stack backtrace:|---- |failures:$|note: )/,
      detail: /^(?!thread ')(?<d>\s*\S.*)$/,
      most: 3,
      where: /panicked at (?:'.*', )?(?<where>[^\s:]+:\d+:\d+)/,
    },
  },
  { level: failure, pattern: /^test (?<title>\S+) \.\.\. FAILED$/, isEcho: true },
  // PHPUnit
  {
    level: failure,
    pattern: /^\d+\) (?<title>[\w\\]+::\S.*)$/,
    follow: {
      lines: 30,
      until: /^\d+\) |^(?:FAILURES|ERRORS)!/,
      detail: SAID,
      most: 2,
      where: /^(?<where>\/?\S+\.php:\d+)$/,
    },
  },
  // Gradle
  {
    level: failure,
    pattern: /^(?!> Task)(?<title>\S.* > .+?)(?:\(\))? FAILED$/,
    follow: {
      lines: 15,
      until: /^$/,
      detail: SAID,
      most: 1,
      where: /at (?:.*\()?(?<where>\w+\.\w+:\d+)\)?$/,
    },
  },
  // Maven: first where it happens, then in a list of results
  {
    level: failure,
    pattern:
      /^\[ERROR\]\s+(?<title>[\w.$]+\.\w+)(?:\(.*\))?\s+(?:-- )?Time elapsed:.*<<< (?:FAILURE|ERROR)!$/,
    isEcho: true,
    follow: {
      lines: 12,
      until: /^\[/,
      detail: SAID,
      most: 1,
      where: /at .*\((?<where>\w+\.\w+:\d+)\)$/,
    },
  },
  {
    level: failure,
    pattern: /^\[ERROR\]\s{2,}(?<title>[\w$]+\.\w+:\d+)(?:->\S+)?\s+(?<message>\S.*)$/,
  },
  // dotnet
  {
    level: failure,
    pattern: /^\s+Failed (?<title>\S.*?) \[[<\d].*\]$/,
    follow: {
      lines: 40,
      until: /^\s+(?:Passed|Skipped) |^(?:Test Run|Failed!|Passed!)/,
      detail: /^\s*(?!Error Message:|Stack Trace:|Standard Output|at )(?<d>\S.*)$/,
      most: 3,
      where: / in (?<file>\S.*):line (?<line>\d+)$/,
    },
  },
  // Signs that several runners put before a name in their listing. A linter draws a frame with the place behind one.
  {
    level: failure,
    pattern:
      /^\s+[×✕✗✘] (?:\[fail\]: )?(?<title>(?![\w@/-]+\([\w/@-]+\): ).+?)(?: \(?\d[\d.]* ?m?s\)?)?$/,
    isEcho: true,
    follow: {
      lines: 3,
      until: /^\s*$/,
      where: /^\s*(?:╭─|,-)\[(?<where>.+:\d+:\d+)\]/,
      located: 'error',
    },
  },
]

/** One line that sums a failed test up, and whose name for it is the best. */
export const NODE_ID = /^(?:FAILED|ERROR) (?<title>\S+\.py(?:::\S.*?)?)(?: - (?<message>.*))?$/
export const EXAMPLE_ID = /^rspec (?<where>\.?\/?\S+:\d+) # (?<title>.+)$/

/** What announces failures by number. */
export const NUMBERED = /^\s+\d+ failing$|^Failures:$/
