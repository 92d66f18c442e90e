/** The names of tests that failed, where a runner puts them on a line of their own. Each once. */
export function failingTests(lines: readonly string[], most: number): readonly string[] {
  const output = lines.join('\n')
  const patterns = PATTERNS.filter(({ sign }) => output.includes(sign)).map(
    ({ pattern }) => pattern,
  )
  const names = new Set<string>()
  for (const line of lines) {
    const name = nameIn(line, patterns)
    if (name !== undefined) names.add(name)
    if (names.size === most) break
  }
  return [...names]
}

function nameIn(line: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const name = pattern.exec(line)?.[1]?.trim()
    if (name !== undefined && name !== '') return name
  }
  return undefined
}

/** Each is looked for only in an output that has its sign, since most outputs are those of one runner. */
const PATTERNS: readonly { readonly sign: string; readonly pattern: RegExp }[] = [
  // vitest, jest
  { sign: 'FAIL ', pattern: /^\s*FAIL\s+(\S.* > .+?)$/ },
  { sign: '●', pattern: /^\s*● (.+ › .+)$/ },
  // pytest, unittest
  { sign: '::', pattern: /^(?:FAILED|ERROR) (\S+::\S.*?)(?: - .*)?$/ },
  { sign: 'FAIL: ', pattern: /^(?:FAIL|ERROR): (\w\S*)(?: \(.*\))?$/ },
  { sign: 'ERROR: ', pattern: /^ERROR: (\w\S*) \(.*\)$/ },
  // go, cargo, nextest
  { sign: '--- FAIL', pattern: /^\s*--- FAIL: (\S+)/ },
  { sign: '... FAILED', pattern: /^test (\S+) \.\.\. FAILED$/ },
  { sign: 'FAIL [', pattern: /^\s*FAIL \[.*?\]\s+(.+)$/ },
  // TAP, node
  { sign: 'not ok', pattern: /^\s*not ok \d+ (?:- )?(?!.*# (?:TODO|SKIP))(.+)$/i },
  { sign: '✖', pattern: /^\s*✖ (.+?) \([\d.]+m?s\)$/ },
  // mocha, ExUnit, PHPUnit, Playwright
  { sign: '1) ', pattern: /^\s+\d+\) (?:test )?(\S.*?):?(?: ─+)?$/ },
  { sign: '1) ', pattern: /^\d+\) (\S+::\S+.*)$/ },
  // rspec
  { sign: 'rspec ', pattern: /^rspec (\S+(?: # .*)?)$/ },
  // dotnet, Gradle, Maven
  { sign: ' Failed ', pattern: /^\s+Failed (\S+)(?: \(.*\))? \[/ },
  { sign: ' > ', pattern: /^(\S.* > .+?)(?:\(\))? FAILED$/ },
  { sign: '[ERROR]', pattern: /^\[ERROR\]\s+(\w+[.#]\w+):\d+/ },
  // ctest
  {
    sign: ' - ',
    pattern: /^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|.*Exception.*)\)/,
  },
  // bun, deno, bats, AVA
  { sign: '(fail) ', pattern: /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/ },
  { sign: ' ... ', pattern: /^(\S.*?) \.\.\. .*FAILED/ },
  { sign: '✗', pattern: /^\s*✗ (.+)$/ },
  { sign: '✘', pattern: /^\s*✘ \[fail\]: (.+)$/ },
  // Flutter, Bazel, Swift
  { sign: '[E]', pattern: /: (.+) \[E\]$/ },
  { sign: '//', pattern: /^(\/\/\S+)\s.*FAILED/ },
  { sign: 'Test Case ', pattern: /^Test Case '(.+)' failed/ },
  // Signs that several runners use, told last because the lines above say more.
  { sign: '×', pattern: /^\s*× (.+?)(?: \(?\d+ ?m?s\)?)?$/ },
  { sign: '✕', pattern: /^\s*✕ (.+?)(?: \(?\d+ ?m?s\)?)?$/ },
]
