// How compilers, linters and package managers tell of a mistake.
import type { Rule } from './rule.ts'

const error = 'error'
const ARROW = /^\s*--> (?<where>.+:\d+:\d+)$/
const FRAME = /^\s*(?:╭─|,-)\[(?<where>.+:\d+:\d+)\]/

export const DIAGNOSIS_RULES: readonly Rule[] = [
  // gcc, clang, javac, mypy, and whoever writes like them
  {
    level: error,
    pattern:
      /^(?<where>(?:[A-Za-z]:)?[^\s:()[\]'"=][^:()'"=]*:\d+(?::\d+)?):\s+(?<level>fatal error|error|warning|note|info|remark):\s*(?<title>\S.*)$/i,
    follow: {
      lines: 6,
      until: /^\S/,
      detail: /^\s+(?<d>(?:symbol|location|required|found): .*)$/,
      most: 2,
    },
  },
  // tsc, MSBuild
  {
    level: error,
    pattern:
      /^\s*(?<file>[^\s(][^(]*)\((?<line>\d+),(?<col>\d+)\):\s+(?<level>error|warning)\s+(?<title>\w+: .+?)(?: \[\S+proj\])?$/,
  },
  {
    level: error,
    pattern: /^(?<where>\S.*:\d+:\d+) - (?<level>error|warning) (?<title>TS\d+: .+)$/,
  },
  { level: error, pattern: /^(?<level>error|warning) (?<title>(?:TS|CS|MSB|NETSDK)\d+: .+)$/ },
  // flake8, ruff, pylint: a code in place of a level
  {
    level: error,
    pattern: /^(?<where>[^\s:]+:\d+:\d+):\s+(?<title>[A-Z]{1,4}\d{2,5}:?(?: \[\*\])? .+)$/,
  },
  {
    level: error,
    pattern: /^(?<title>[A-Z]{1,4}\d{3,4}(?: \[\*\])? \S.*)$/,
    follow: { lines: 2, where: ARROW, needsPlace: true },
  },
  // go build, go vet
  {
    level: error,
    pattern: /^(?:vet: )?(?<where>(?:\.{0,2}\/)?[^\s:]+\.go:\d+(?::\d+)?): (?<title>\S.*)$/,
  },
  // rustc, and whatever begins with its level
  {
    level: error,
    pattern:
      /^(?<level>error|warning|fatal)(?:\[\w+\])?: (?<title>(?!could not compile|test failed|aborting due|build failed|.* generated \d+ warning)\S.*)$/,
    isWeak: true,
    follow: { lines: 6, until: /^\s*$/, where: ARROW },
  },
  // Kotlin
  {
    level: error,
    pattern: /^(?<level>[ew]): (?:file:\/\/)?(?<where>\S+:\d+:\d+):? (?<title>\S.*)$/,
  },
  // Maven
  {
    level: error,
    pattern:
      /^\[(?<level>ERROR|WARNING)\] (?<file>\S+\.\w+):\[(?<line>\d+),(?<col>\d+)\] (?<title>\S.*)$/,
  },
  // eslint
  {
    level: error,
    pattern: /^\s+(?<line>\d+):(?<col>\d+)\s+(?<level>error|warning)\s+(?<title>\S.*)$/,
    needs: 'path',
  },
  // oxlint
  {
    level: error,
    pattern: /^\s+(?<level>[×x⚠!]) (?<title>[\w@/-]+\([\w/@-]+\): .+)$/,
    follow: { lines: 3, until: /^\s*$/, where: FRAME },
  },
  // biome
  {
    level: error,
    pattern:
      /^(?<where>\S+:\d+:\d+) (?<title>(?:lint|parse|format|assist|suppressions|organizeImports)\S*)\b.*[━─]{3,}$/,
    follow: { lines: 6, detail: /^\s+[✖⚠!×i] +(?<d>\S.*)$/, most: 1 },
  },
  {
    level: error,
    pattern: /^(?<title>\S+ (?:format|lint|organizeImports|assist)) [━─]{3,}$/,
    follow: { lines: 4, detail: /^\s+[✖⚠×] +(?<d>\S.*)$/, most: 1 },
  },
  // CMake
  {
    level: error,
    pattern: /^CMake (?<level>Error|Warning)(?: \(dev\))? at (?<where>\S+:\d+) (?<title>\(.*\)):$/,
    follow: { lines: 4, detail: /^\s+(?<d>\S.*)$/, most: 2 },
  },
  // npm
  {
    level: error,
    pattern: /^npm (?:ERR!|error) (?<title>\S.*)$/,
    isContinued: true,
    follow: {
      lines: 30,
      until: /^(?!npm )/,
      detail:
        /^npm (?:ERR!|error) (?<d>(?!A complete log|errno |syscall |path |code |\s+\/.*-debug|\w+ This is related|For a full report)(?:\S+ )?\S.*\s\S.*)$/,
      most: 5,
    },
  },
  { level: 'warning', pattern: /^npm (?:WARN|warn) (?<title>\S.*)$/ },
  // docker build
  {
    level: error,
    pattern: /^(?:#\d+ )?ERROR: (?<title>\S.*)$/,
    isWeak: true,
  },
  { level: error, pattern: /^\s*=> ERROR (?<title>\[.*\S)\s+[\d.]+s$/ },
  {
    level: error,
    pattern: /^(?<where>\S*Dockerfile\S*:\d+)$/,
    follow: { lines: 8, title: /^\s*\d+ \| >>> (?<title>\S.*)$/ },
  },
  // make and linkers
  { level: error, pattern: /^(?<title>g?make(?:\[\d+\])?: \*\*\* .+)$/ },
  {
    level: error,
    pattern: /^(?<where>[^\s:]+:(?:\d+|\(\S+\))): (?<title>undefined reference to .+)$/,
  },
  {
    level: error,
    pattern:
      /^(?:\S*\/)?(?<title>(?:ld|collect2|lld|clang|gcc|g\+\+|cc1|cc1plus)(?:\.\w+)?: (?:fatal )?error: .+)$/,
  },
  // Gradle
  { level: error, pattern: /^> Task (?<title>:\S+ FAILED)$/ },
  {
    level: error,
    pattern: /^\* What went wrong:$/,
    follow: {
      lines: 4,
      title: /^(?<title>\S.*)$/,
      until: /^\s*$/,
      detail: /^> (?<d>\S.*)$/,
      most: 2,
    },
  },
]
