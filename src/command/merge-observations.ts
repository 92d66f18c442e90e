import type { CommitMessage } from './commit-message.ts'
import { type WorkedCommand, intentOf } from './failed-command.ts'
import type { LocatedError } from './find-errors.ts'
import type { TestFailure } from './find-failures.ts'
import type { FoundVersion } from './find-versions.ts'
import type { CommandObservation } from './observation.ts'
import { unwrapCommands } from './unwrap-command.ts'
import type { WrittenPath } from './written-paths.ts'

/** What is known of the commands so far, each with the command that showed it. */
export interface Observations {
  readonly tests: readonly (TestFailure & Source)[]
  readonly errors: readonly (LocatedError & Source)[]
  readonly versions: readonly (FoundVersion & Source)[]
  readonly worked: readonly WorkedCommand[]
  readonly written: readonly WrittenPath[]
  readonly commits: readonly CommitMessage[]
}

interface Source {
  readonly command: string
}

const MAX_KEPT = 40
/** As many as a run reports, so there may have been more. */
const MAX_FAILURES = 10

export const NO_OBSERVATIONS: Observations = {
  tests: [],
  errors: [],
  versions: [],
  worked: [],
  written: [],
  commits: [],
}

/** What the next command shows replaces what it disproves. */
export function mergeObservations(known: Observations, next: CommandObservation): Observations {
  return {
    tests: mergeTests(known.tests, next),
    errors: mergeErrors(known.errors, next),
    versions: mergeVersions(known.versions, next),
    worked: mergeWorked(known.worked, next),
    written: recent(
      known.written.filter(
        ({ path }) =>
          !next.removed.includes(path) && !next.written.some((each) => each.path === path),
      ),
      next.written,
    ),
    commits: mergeCommits(known.commits, next),
  }
}

function recent<T>(known: readonly T[], added: readonly T[]): readonly T[] {
  return [...known, ...added].slice(-MAX_KEPT)
}

function mergeTests(known: Observations['tests'], next: CommandObservation) {
  const { testRun, failing, passing } = next
  const command = testRun?.command ?? next.command
  const isWhole =
    testRun !== undefined &&
    (testRun.passed || (failing.length > 0 && failing.length < MAX_FAILURES))
  const kept = known.filter(
    (test) =>
      !(isWhole && test.command === command) &&
      !failing.some(({ name }) => name === test.name) &&
      !passing.some((name) => isSameTest(test.name, name)),
  )
  return recent(
    kept,
    failing.map((failure) => ({ ...failure, command })),
  )
}

/** Some reporters name a test with its suites, others print only the last part. */
function isSameTest(failed: string, passed: string) {
  if (failed === passed) return true
  const parts = (name: string) => name.split(/ > | › |::/)
  const [long, short] = [parts(failed), parts(passed)]
  return (
    long.length > short.length &&
    short.every((part, index) => part === long.at(index - short.length))
  )
}

function mergeErrors(known: Observations['errors'], next: CommandObservation) {
  const isChecked = (error: LocatedError & Source) => {
    const file = error.at.slice(0, error.at.lastIndexOf(':'))
    if (next.removed.includes(file)) return true
    return next.succeeded.some(
      (command) => command === error.command || checksFile(command, error.command, file),
    )
  }
  const kept = known.filter(
    (error) =>
      !isChecked(error) &&
      // The same command failed again, and reports what is wrong now.
      !(error.command === next.command && (next.errors.length > 0 || next.failed !== undefined)) &&
      !next.errors.some(({ at }) => at === error.at),
  )
  return recent(
    kept,
    next.errors.map((error) => ({ ...error, command: next.command })),
  )
}

/** The same tool, run for this file alone. */
function checksFile(command: string, earlier: string, file: string) {
  const [now] = unwrapCommands(command)
  const [before] = unwrapCommands(earlier)
  if (now === undefined || before === undefined || !now.words.includes(file)) return false
  const intent = intentOf(now)
  // A script that runs does not check itself: it may work only with other arguments.
  return intent !== undefined && intent !== file && intent === intentOf(before)
}

function mergeVersions(known: Observations['versions'], next: CommandObservation) {
  const added = next.versions.map((found) => {
    const { bump, ...version } = found
    const previous =
      bump === undefined ? [] : known.filter((each) => precedes(each.version, found.version, bump))
    const [only] = previous
    const subject = previous.length === 1 && only !== undefined ? only.subject : version.subject
    return { ...version, subject, command: next.command }
  })
  const isReplaced = ({ subject }: FoundVersion) =>
    added.some((each) => each.subject.toLowerCase() === subject.toLowerCase())
  return recent(
    known.filter((each) => !isReplaced(each)),
    added,
  )
}

function precedes(earlier: string, later: string, bump: 'patch' | 'minor' | 'major') {
  const [a = [], b = []] = [earlier, later].map((version) => version.split('.').map(Number))
  const place = { major: 0, minor: 1, patch: 2 }[bump]
  return (
    a.length === 3 &&
    b.length === 3 &&
    b[place] === a[place]! + 1 &&
    a.every((part, index) => index >= place || part === b[index])
  )
}

function mergeWorked(known: readonly WorkedCommand[], next: CommandObservation) {
  const { worked, failed } = next
  const kept = known.filter(
    (each) =>
      each.command !== failed?.command && (worked === undefined || !isSamePurpose(each, worked)),
  )
  return recent(kept, worked === undefined ? [] : [worked])
}

function isSamePurpose(a: WorkedCommand, b: WorkedCommand) {
  if (a.command === b.command || a.after === b.after) return true
  const [first, second] = [a, b].map(({ command }) => unwrapCommands(command)[0])
  if (first === undefined || second === undefined) return false
  const intent = intentOf(first)
  return (
    intent !== undefined &&
    intent === intentOf(second) &&
    flagsOf(first.words) === flagsOf(second.words)
  )
}

function flagsOf(words: readonly string[]) {
  return words
    .filter((word) => word.startsWith('-'))
    .map((word) => word.replace(/=.*$/, ''))
    .toSorted()
    .join(' ')
}

function mergeCommits(known: readonly CommitMessage[], next: CommandObservation) {
  let commits = known
  for (const commit of next.commits) {
    const reverted = /^Revert "(.+)"$/.exec(commit.subject)?.[1]
    if (commit.isAmend === true) commits = commits.slice(0, -1)
    if (reverted !== undefined) commits = commits.filter(({ subject }) => subject !== reverted)
    commits = [...commits.filter(({ subject }) => subject !== commit.subject), commit]
  }
  // A commit that only created files is undone when these are removed.
  return commits
    .filter(
      ({ created }) =>
        created === undefined || !created.every((path) => next.removed.includes(path)),
    )
    .slice(-MAX_KEPT)
}
