/** The names of tests that failed, where a runner puts them on a line of their own. Each once. */
export function failingTests(lines: readonly string[], most: number): readonly string[] {
  const names = new Set<string>()
  for (const line of lines) {
    const name = nameIn(line)
    if (name !== undefined) names.add(name)
    if (names.size === most) break
  }
  return [...names]
}

function nameIn(line: string): string | undefined {
  for (const pattern of PATTERNS) {
    const name = pattern.exec(line)?.[1]?.trim()
    if (name !== undefined && name !== '') return name
  }
  return undefined
}

const PATTERNS: readonly RegExp[] = [
  // vitest, jest
  /^\s*FAIL\s+(\S.* > .+?)$/,
  /^\s*● (.+ › .+)$/,
  // pytest, unittest
  /^(?:FAILED|ERROR) (\S+::\S.*?)(?: - .*)?$/,
  /^(?:FAIL|ERROR): (\w\S*)(?: \(.*\))?$/,
  // go, cargo, nextest
  /^\s*--- FAIL: (\S+)/,
  /^test (\S+) \.\.\. FAILED$/,
  /^\s*FAIL \[.*?\]\s+(.+)$/,
  // TAP, node
  /^\s*not ok \d+ (?:- )?(?!.*# (?:TODO|SKIP))(.+)$/i,
  /^\s*✖ (.+?) \([\d.]+m?s\)$/,
  // mocha, ExUnit, PHPUnit, Playwright
  /^\s+\d+\) (?:test )?(\S.*?):?(?: ─+)?$/,
  /^\d+\) (\S+::\S+.*)$/,
  // rspec
  /^rspec (\S+(?: # .*)?)$/,
  // dotnet, Gradle, Maven
  /^\s+Failed (\S+)(?: \(.*\))? \[/,
  /^(\S.* > .+?)(?:\(\))? FAILED$/,
  /^\[ERROR\]\s+(\w+[.#]\w+):\d+/,
  // ctest
  /^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|.*Exception.*)\)/,
  // bun, deno, bats, AVA
  /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/,
  /^(\S.*?) \.\.\. .*FAILED/,
  /^\s*✗ (.+)$/,
  /^\s*✘ \[fail\]: (.+)$/,
  // Flutter, Bazel, Swift
  /: (.+) \[E\]$/,
  /^(\/\/\S+)\s.*FAILED/,
  /^Test Case '(.+)' failed/,
  // Signs that several runners use, told last because the lines above say more.
  /^\s*[×✕] (.+?)(?: \(?\d+ ?m?s\)?)?$/,
]
