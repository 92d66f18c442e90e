import { shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { type Finding, Recogniser } from './recogniser.ts'
import { mayMatter } from './output-rules.ts'
import { assertionIn, frameIn, oneLineOf } from './failure-detail.ts'
import { failingTests } from './test-summary.ts'
import { readsLikeInstruction, withholdInstructions } from './withhold-instructions.ts'

export interface TestFailure {
  readonly name: string
  /** The assertion in one line. */
  readonly detail?: string
  /** `file:line` */
  readonly at?: string
}

const MAX_FAILURES = 10
const MAX_NAME_LENGTH = 160
const MAX_DETAIL_LENGTH = 240
const MAX_AT_LENGTH = 200
const MAX_BLOCK = 60

/** `test` names what was run, for an assertion outside any test. */
export function findFailures(
  lines: readonly string[],
  test: string,
  folder?: string,
): readonly TestFailure[] {
  const findings = findingsIn(lines, folder)
  const starts = findings.map(({ line }) => line).toSorted((a, b) => a - b)
  const failed = findings.filter(
    ({ level, title }) => level === 'failure' && !isSuite(title, lines),
  )
  const found = failed.map((finding) => {
    const next = starts.find((line) => line > finding.line) ?? Infinity
    const end = Math.min(next - 1, Math.max(finding.line - 1 + MAX_BLOCK, finding.lastLine))
    return failureOf(finding, blockFrom(lines.slice(finding.line - 1, end)))
  })
  if (found.length === 0) found.push(...plainAssertions(lines, test, folder))
  if (found.length === 0)
    found.push(...failingTests(lines, MAX_FAILURES).map((name) => ({ name: nameOf(name) })))
  const known = new Map<string, TestFailure>()
  for (const failure of found)
    if (known.get(failure.name)?.detail === undefined || failure.name.startsWith('(message'))
      known.set(failure.name, failure)
  return [...known.values()].slice(0, MAX_FAILURES)
}

export function findingsIn(lines: readonly string[], folder?: string): readonly Finding[] {
  const recogniser = new Recogniser(folder)
  for (const [index, line] of lines.entries()) recogniser.line(line, index + 1, mayMatter(line))
  return recogniser.finish().findings
}

/** Node's runner prints a mark for a suite, too, which fails through its tests. */
function isSuite(title: string, lines: readonly string[]) {
  return lines.some((line) => {
    const text = line.trimStart()
    return text.startsWith('▶ ') && text.slice(2).replace(/ \([\d.]+ms\)$/, '') === title
  })
}

const END =
  /^⎯{3,}|^(?:ℹ|#) tests \d|^✖ failing tests:|^Test Suites: |^\s*\.\.\.$|^test at |^\s*(?:[✖✔✓×▶﹣] |(?:not )?ok \d)/

/** Ends where another test or the runner's totals start. */
function blockFrom(lines: readonly string[]) {
  const end = lines.findIndex((line, index) => index > 1 && END.test(line))
  return end === -1 ? lines : lines.slice(0, end)
}

function failureOf(finding: Finding, block: readonly string[]): TestFailure {
  const detail = assertionIn(block) ?? joined(finding.detail)
  return {
    name: nameOf(finding.title),
    ...defined({
      detail: detail === undefined ? undefined : detailOf(detail),
      at: placeOf(finding.where),
    }),
  }
}

function joined(detail: readonly string[]) {
  const [first, second] = detail.map((line) =>
    line
      .replace(/^AssertionError(?: \[\w+\])?(?:: |$)/, '')
      .replace(/^(\w+) \[\w+\]: /, '$1: ')
      .trim(),
  )
  if (first === undefined) return undefined
  if (first === '') return second
  // A sentence with a colon announces the values on the next line.
  return first.endsWith(':') && second !== undefined ? `${first} ${second}` : first
}

function nameOf(title: string) {
  return withholdInstructions(shorten(oneLineOf(title), MAX_NAME_LENGTH))
}

function detailOf(detail: string) {
  return withholdInstructions(shorten(oneLineOf(detail), MAX_DETAIL_LENGTH))
}

/** Without the column. Undefined for what is no plain path and line. */
export function placeOf(where: string | undefined): string | undefined {
  const match = /^([^\s'"`<>|]{1,180}?):(\d{1,7})(?::\d+)?$/.exec(
    (where ?? '').replace(/^file:\/\//, '').replace(/^\.\//, ''),
  )
  if (match === null) return undefined
  const place = `${match[1]!}:${match[2]!}`
  return place.length > MAX_AT_LENGTH || readsLikeInstruction(match[1]!) ? undefined : place
}

/** A script that only asserts: the first failed assertion ends it. */
function plainAssertions(lines: readonly string[], test: string, folder?: string): TestFailure[] {
  const c = lines
    .map((line) =>
      /([\w./-]+\.\w{1,4}):(\d+): .{0,120}?Assertion [`'](.{1,160})' failed/.exec(line),
    )
    .find((match) => match !== null)
  if (c !== undefined && c !== null)
    return [
      {
        name: nameOf(test),
        detail: detailOf(`assertion ${c[3]!} failed`),
        ...defined({ at: placeOf(`${c[1]!}:${c[2]!}`) }),
      },
    ]
  const at = lines.findIndex((line) => /^\s*(?:Uncaught )?AssertionError\b/.test(line))
  if (at === -1) return []
  const finding = findingsIn(lines, folder).find(({ title }) => title.startsWith('AssertionError'))
  const block = lines.slice(at, at + MAX_BLOCK)
  const plain = joined([
    lines[at]!.trim(),
    ...block.slice(1, 6).filter((line) => line.trim() !== ''),
  ])
  const detail = assertionIn(block) ?? plain
  return [
    {
      name: nameOf(test),
      ...defined({
        detail: detail === undefined || detail === '' ? undefined : detailOf(detail),
        at: placeOf((finding?.where ?? frameIn(block))?.replace(`file://${folder}/`, '')),
      }),
    },
  ]
}

/** Names of tests that the output shows as passed. */
export function passingTests(lines: readonly string[], most: number): readonly string[] {
  const names = new Set<string>()
  for (const line of lines) {
    const match = PASSED.map((pattern) => pattern.exec(line)).find((found) => found !== null)
    const name = match?.[1]
    if (name !== undefined && !/# (?:TODO|SKIP)\b/i.test(line)) names.add(nameOf(name))
    if (names.size === most) break
  }
  return [...names]
}

const PASSED: readonly RegExp[] = [
  /^\s*[✔✓√] (\S.*?)(?: \(?\d[\d.]* ?m?s\)?)?$/,
  /^\s*ok \d+ (?:- )?(\S.*)$/,
  /^test (\S+) \.\.\. ok$/,
  /^\s*--- PASS: (\S+)/,
  /^(\S+::\S.*?) PASSED\b/,
  /^(\w\S*(?: \([\w.]+\))?) \.\.\. ok$/,
]
