export type FindingLevel = 'failure' | 'error' | 'warning'

export const FINDING_LEVELS: readonly FindingLevel[] = ['failure', 'error', 'warning']

/**
 * How a tool starts to report a finding. Groups of the pattern: `title`; `where`, or `file`, `line`
 * and `col`; `level`; `message`, the first line of detail.
 */
export interface OutputRule {
  readonly level: FindingLevel
  readonly pattern: RegExp
  /** Only names a failure that the tool details elsewhere. */
  readonly isEcho?: true
  /** Starts no finding inside another. */
  readonly isWeak?: true
  readonly isContinued?: true
  /** Matches the previous line; groups `where` and `d`. */
  readonly before?: RegExp
  /** Applies only after a heading for numbered failures, or after a path. */
  readonly needs?: 'numbered' | 'path'
  readonly lines?: number
  readonly until?: RegExp
  readonly title?: RegExp
  /** Group `d`, or the whole line. */
  readonly detail?: RegExp
  readonly most?: number
  /** Group `where`, or `file` and `line`. */
  readonly where?: RegExp
  /** The last location counts: a Python traceback ends where the error happened. */
  readonly usesLastLocation?: true
  readonly drop?: RegExp
  readonly located?: FindingLevel
  readonly needsLocation?: true
}

const rule =
  (level: FindingLevel) =>
  (pattern: RegExp, more: Omit<OutputRule, 'level' | 'pattern'> = {}): OutputRule => ({
    level,
    pattern,
    ...more,
  })
const failed = rule('failure')
const wrong = rule('error')
const warned = rule('warning')

/** Neither a horizontal rule nor a source excerpt. */
const SAID =
  /^(?!\s*(?:[-=⎯─_]{3,}|>?\s*\d+\s*\||\||at .*(?::\d+|\()|- Expected|\+ Received|\+ expected - actual|\S+:\d+$)\s*)(?<d>\s*\S.*)$/
const STACK = /(?:\(|at |❯ .*?)(?<where>(?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/
const ARROW = /^\s*--> (?<where>.+:\d+:\d+)$/
const FRAME = /^\s*(?:╭─|,-)\[(?<where>.+:\d+:\d+)\]/

export const OUTPUT_RULES: readonly OutputRule[] = [
  // vitest
  failed(/^\s*FAIL\s+(?:\|[^|]+\|\s+)?(?<title>\S.* > .+?)$/, {
    lines: 60,
    until: /^⎯{3,}|^\s*FAIL\s/,
    detail: SAID,
    where: STACK,
  }),
  failed(/^\s*FAIL\s+(?<title>\S+) \[ .* \]$/, {
    lines: 40,
    until: /^⎯{3,}/,
    detail: SAID,
    where: STACK,
  }),
  // jest
  failed(/^ {2}● (?!Console$|Validation |Deprecation )(?<title>\S.*)$/, {
    lines: 60,
    until: /^ {2}● |^(?:PASS|FAIL|Tests:|Test Suites:) /,
    detail: SAID,
    most: 3,
    where: STACK,
  }),
  // mocha, rspec, ExUnit
  failed(/^ {1,4}\d+\) (?<title>\S.*)$/, {
    needs: 'numbered',
    lines: 40,
    detail: SAID,
    most: 4,
    where: /(?:# |\()(?<where>\.?\/?[^()\s]+:\d+(?::\d+)?)(?::in .*)?\)?$/,
  }),
  // TAP, from Node's runner and others
  failed(/^\s*not ok \d+ (?:- )?(?<title>(?!.*# (?:TODO|SKIP)).+)$/i, {
    lines: 40,
    until: /^\s*\.\.\.$/,
    drop: /failureType: 'subtestsFailed'/,
    detail:
      /^\s*(?:error: ['"](?<d>.+)['"]$|(?!\w+:(?: |$)|---|async |node:|.*(?::\d+:\d+\)?|\(<anonymous>\))$)\S.*)/,
    most: 2,
    where: /^\s*(?:location|at): ['"]?(?<where>[^'"]+:\d+:\d+)/,
  }),
  // Node's runner, spec reporter
  failed(/^test at (?<where>\S.*:\d+:\d+)$/, {
    lines: 14,
    title: /^✖ (?<title>.+?) \([\d.]+ms\)$/,
    drop: /^✖ .*# (?:TODO|SKIP)/,
    until: /^test at /,
    detail: SAID,
    most: 2,
  }),
  failed(/^\s*✖ (?<title>.+?) \([\d.]+ms\)$/, { isEcho: true }),
  // pytest
  failed(/^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(?<title>\S.*?) _{3,}$/, {
    lines: 200,
    until: /^_{3,} |^={3,}/,
    detail: /^E {2,}(?<d>\S.*)$/,
    most: 2,
    where: /^(?<where>[^\s:]+\.py:\d+): /,
    usesLastLocation: true,
  }),
  // unittest
  failed(/^(?:FAIL|ERROR): (?<title>\w\S*(?: \(.*\))?)$/, {
    lines: 80,
    until: /^={20,}$|^Ran \d+ test/,
    detail: /^(?<d>[A-Za-z_][\w.]*(?:: .*)?)$/,
    where: /^\s+File "(?<file>[^"]+)", line (?<line>\d+)/,
    usesLastLocation: true,
  }),
  // go
  failed(/^\s*--- FAIL: (?<title>\S+)/, {
    before: /^\s+(?<where>\S+\.go:\d+): (?<d>\S.*)$/,
    lines: 30,
    until: /^(?:FAIL|ok|PASS|===|exit status)/,
    detail: /^\s+(?:\S+\.go:\d+: (?<d>\S.*)|(?:Error:|expected\s*:|actual\s*:)\s*\S.*)$/,
    most: 3,
    where: /^\s+(?:Error Trace:\s+)?(?<where>\S+\.go:\d+)/,
  }),
  // cargo
  failed(/^---- (?<title>\S+)(?: - .*)? stdout ----$/, {
    lines: 30,
    until: /^(?:stack backtrace:|---- |failures:$|note: )/,
    detail: /^(?!thread ')(?<d>\s*\S.*)$/,
    most: 3,
    where: /panicked at (?:'.*', )?(?<where>[^\s:]+:\d+:\d+)/,
  }),
  failed(/^test (?<title>\S+) \.\.\. FAILED$/, { isEcho: true }),
  // PHPUnit
  failed(/^\d+\) (?<title>[\w\\]+::\S.*)$/, {
    lines: 30,
    until: /^\d+\) |^(?:FAILURES|ERRORS)!/,
    detail: SAID,
    most: 2,
    where: /^(?<where>\/?\S+\.php:\d+)$/,
  }),
  // Gradle
  failed(/^(?!> Task)(?<title>\S.* > .+?)(?:\(\))? FAILED$/, {
    lines: 15,
    until: /^$/,
    detail: SAID,
    where: /at (?:.*\()?(?<where>\w+\.\w+:\d+)\)?$/,
  }),
  // Maven: first where it happens, then in the list of results
  failed(
    /^\[ERROR\]\s+(?<title>[\w.$]+\.\w+)(?:\(.*\))?\s+(?:-- )?Time elapsed:.*<<< (?:FAILURE|ERROR)!$/,
    {
      isEcho: true,
      lines: 12,
      until: /^\[/,
      detail: SAID,
      where: /at .*\((?<where>\w+\.\w+:\d+)\)$/,
    },
  ),
  failed(/^\[ERROR\]\s{2,}(?<title>[\w$]+\.\w+:\d+)(?:->\S+)?\s+(?<message>\S.*)$/),
  // dotnet
  failed(/^\s+Failed (?<title>\S.*?) \[[<\d].*\]$/, {
    lines: 40,
    until: /^\s+(?:Passed|Skipped) |^(?:Test Run|Failed!|Passed!)/,
    detail: /^\s*(?!Error Message:|Stack Trace:|Standard Output|at )(?<d>\S.*)$/,
    most: 3,
    where: / in (?<file>\S.*):line (?<line>\d+)$/,
  }),
  // Several runners use these symbols before a name. A linter prints the location in a frame after
  // one.
  failed(
    /^\s+[×✕✗✘] (?:\[fail\]: )?(?<title>(?![\w@/-]+\([\w/@-]+\): ).+?)(?: \(?\d[\d.]* ?m?s\)?)?$/,
    { isEcho: true, lines: 3, until: /^\s*$/, where: FRAME, located: 'error' },
  ),
  // gcc, clang, javac, mypy and others with this format
  wrong(
    /^(?<where>(?:[A-Za-z]:)?[^\s:()[\]'"=][^:()'"=]*:\d+(?::\d+)?):\s+(?<level>fatal error|error|warning|note|info|remark):\s*(?<title>\S.*)$/i,
    {
      lines: 6,
      until: /^\S/,
      detail: /^\s+(?<d>(?:symbol|location|required|found): .*)$/,
      most: 2,
    },
  ),
  // tsc, MSBuild
  wrong(
    /^\s*(?<file>[^\s(][^(]*)\((?<line>\d+),(?<col>\d+)\):\s+(?<level>error|warning)\s+(?<title>\w+: .+?)(?: \[\S+proj\])?$/,
  ),
  wrong(/^(?<where>\S.*:\d+:\d+) - (?<level>error|warning) (?<title>TS\d+: .+)$/),
  wrong(/^(?<level>error|warning) (?<title>(?:TS|CS|MSB|NETSDK)\d+: .+)$/),
  // flake8, ruff, pylint: a code instead of a level
  wrong(/^(?<where>[^\s:]+:\d+:\d+):\s+(?<title>[A-Z]{1,4}\d{2,5}:?(?: \[\*\])? .+)$/),
  wrong(/^(?<title>[A-Z]{1,4}\d{3,4}(?: \[\*\])? \S.*)$/, {
    lines: 2,
    where: ARROW,
    needsLocation: true,
  }),
  // go build, go vet
  wrong(/^(?:vet: )?(?<where>(?:\.{0,2}\/)?[^\s:]+\.go:\d+(?::\d+)?): (?<title>\S.*)$/),
  // rustc, and other lines that start with a level
  wrong(
    /^(?<level>error|warning|fatal)(?:\[\w+\])?: (?<title>(?!could not compile|test failed|aborting due|build failed|.* generated \d+ warning)\S.*)$/,
    { isWeak: true, lines: 6, until: /^\s*$/, where: ARROW },
  ),
  // Kotlin
  wrong(/^(?<level>[ew]): (?:file:\/\/)?(?<where>\S+:\d+:\d+):? (?<title>\S.*)$/),
  // Maven
  wrong(
    /^\[(?<level>ERROR|WARNING)\] (?<file>\S+\.\w+):\[(?<line>\d+),(?<col>\d+)\] (?<title>\S.*)$/,
  ),
  // eslint
  wrong(/^\s+(?<line>\d+):(?<col>\d+)\s+(?<level>error|warning)\s+(?<title>\S.*)$/, {
    needs: 'path',
  }),
  // oxlint
  wrong(/^\s+(?<level>[×x⚠!]) (?<title>[\w@/-]+\([\w/@-]+\): .+)$/, {
    lines: 3,
    until: /^\s*$/,
    where: FRAME,
  }),
  // biome
  wrong(
    /^(?<where>\S+:\d+:\d+) (?<title>(?:lint|parse|format|assist|suppressions|organizeImports)\S*)\b.*[━─]{3,}$/,
    { lines: 6, detail: /^\s+[✖⚠!×i] +(?<d>\S.*)$/ },
  ),
  wrong(/^(?<title>\S+ (?:format|lint|organizeImports|assist)) [━─]{3,}$/, {
    lines: 4,
    detail: /^\s+[✖⚠×] +(?<d>\S.*)$/,
  }),
  // CMake
  wrong(/^CMake (?<level>Error|Warning)(?: \(dev\))? at (?<where>\S+:\d+) (?<title>\(.*\)):$/, {
    lines: 4,
    detail: /^\s+(?<d>\S.*)$/,
    most: 2,
  }),
  // npm
  wrong(/^npm (?:ERR!|error) (?<title>\S.*)$/, {
    isContinued: true,
    lines: 30,
    until: /^(?!npm )/,
    detail:
      /^npm (?:ERR!|error) (?<d>(?!A complete log|errno |syscall |path |code |\s+\/.*-debug|\w+ This is related|For a full report)(?:\S+ )?\S.*\s\S.*)$/,
    most: 5,
  }),
  warned(/^npm (?:WARN|warn) (?<title>\S.*)$/),
  // docker build
  wrong(/^(?:#\d+ )?ERROR: (?<title>\S.*)$/, { isWeak: true }),
  wrong(/^\s*=> ERROR (?<title>\[.*\S)\s+[\d.]+s$/),
  wrong(/^(?<where>\S*Dockerfile\S*:\d+)$/, { lines: 8, title: /^\s*\d+ \| >>> (?<title>\S.*)$/ }),
  // make and linkers
  wrong(/^(?<title>g?make(?:\[\d+\])?: \*\*\* .+)$/),
  wrong(/^(?<where>[^\s:]+:(?:\d+|\(\S+\))): (?<title>undefined reference to .+)$/),
  wrong(
    /^(?:\S*\/)?(?<title>(?:ld|collect2|lld|clang|gcc|g\+\+|cc1|cc1plus)(?:\.\w+)?: (?:fatal )?error: .+)$/,
  ),
  // Gradle
  wrong(/^> Task (?<title>:\S+ FAILED)$/),
  wrong(/^\* What went wrong:$/, {
    lines: 4,
    title: /^(?<title>\S.*)$/,
    until: /^\s*$/,
    detail: /^> (?<d>\S.*)$/,
    most: 2,
  }),
  wrong(/^\s*Traceback \(most recent call last\):$/, {
    isWeak: true,
    lines: 120,
    title: /^(?<title>[A-Za-z_][\w.]*(?:: .*)?)$/,
    where: /^\s+File "(?<file>[^"<]+)", line (?<line>\d+)/,
    usesLastLocation: true,
  }),
  wrong(/^(?:Exception in thread "[^"]*" |Caused by: )(?<title>[\w.$]+(?:Exception|Error)\b.*)$/, {
    isWeak: true,
    lines: 8,
    where: /^\s+at .*\((?<where>\w+\.\w+:\d+)\)$/,
  }),
  wrong(
    /^(?:\[?\w*\]? ?[Uu]ncaught )?(?<title>(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/,
    {
      isWeak: true,
      lines: 12,
      until: /^\s*$/,
      where: /^\s+at .*?\(?(?<where>(?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/,
    },
  ),
  wrong(/^(?<title>panic: .+)$/, { isWeak: true, lines: 30, where: /^\s+(?<where>\S+\.go:\d+)/ }),
  wrong(/^thread '.*' .*panicked at (?<where>[^\s:]+:\d+:\d+):$/, {
    isWeak: true,
    lines: 1,
    title: /^(?<title>\S.*)$/,
  }),
  wrong(
    /^(?<title>(?:\S+: )?(?:line \d+: )?(?:Segmentation fault|Bus error|Aborted|Killed|Illegal instruction)\b.{0,40})$/,
    { isWeak: true },
  ),
  wrong(
    /^(?<title>.*\b(?:heap out of memory|Out of memory|No space left on device|core dumped)\b.*)$/i,
    { isWeak: true },
  ),
  wrong(
    /^(?<title>[^\s:]+: (?:(?:line )?\d+: )?[^:]*:? ?(?:(?:command )?not found|No such file or directory|Permission denied))$/,
    { isWeak: true },
  ),
  // warnings of Python and Node
  warned(/^\s*(?<where>\S+:\d+): (?<title>\w*Warning: .+)$/, { isWeak: true }),
  warned(/^(?:\(node:\d+\) )?(?:\[\w+\] )?(?<title>\w*Warning: .+)$/, { isWeak: true }),
  // log lines
  wrong(
    /^(?:\[?\d[\d:.,TZ+\s/-]{5,40}\]?\s+)?\[?(?<level>FATAL|ERROR|WARN(?:ING)?|Error|Warning)\]?(?::|\s+-|(?<=\])|(?<=[A-Z]))\s+(?<title>(?!Tests run:|Failures?:|Errors?:|-> \[Help|\[Help|Re-run |To see the full|For more information|After correcting|\d+ errors?$)\S.*)$/,
    { isWeak: true },
  ),
]

/** These lines have the best name of a failed test. */
export const PYTEST_NODE = /^(?:FAILED|ERROR) (?<title>\S+\.py(?:::\S.*?)?)(?: - (?<message>.*))?$/
export const RSPEC_EXAMPLE = /^rspec (?<where>\.?\/?\S+:\d+) # (?<title>.+)$/

export const NUMBERED_FAILURES = /^\s+\d+ failing$|^Failures:$/

/**
 * Matches every line that a rule could start with: one cheap test per line makes gigabytes
 * bearable.
 */
const SIGNS = new RegExp(
  [
    'error|warn|fail|exception|panic|fatal|traceback|undefined|fault|abort|kill|illegal|memory|denied|refused|dumped',
    'cannot|could|unable|timed|timeout|invalid|missing|unexpected|not ok|not found|no such|no space|went wrong',
    String.raw`npm|rspec|dockerfile|test at |stdout ----|:\d+:\d+|:\d+: |\.go:|:\d+$|[●✖×✗✘✕⚠━─]`,
    String.raw`^\s*\d+[):]|^_{3}|^[a-z]{1,4}\d{2}|^[ew]: |^\s+[x!] `,
  ].join('|'),
  'i',
)

export function mayMatter(line: string): boolean {
  return SIGNS.test(line)
}
