import { shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import {
  type CommandStatus,
  commandStatuses,
  isFilter,
  isIncidental,
  isReader,
} from './command-status.ts'
import { commitMessagesFrom } from './commit-message.ts'
import type { CommandObservation } from './observation.ts'
import { detectTestRun, linesOf } from './detect-test-run.ts'
import { type FailedCommand, commandText, intentOf, workedAfter } from './failed-command.ts'
import { findErrors } from './find-errors.ts'
import { passingTests } from './find-failures.ts'
import { findVersions } from './find-versions.ts'
import type { Observations } from './merge-observations.ts'
import type { ShellCommand } from './shell-commands.ts'
import { type ProjectFolders, projectPath, shellFolders } from './shell-folders.ts'
import { runsTests } from './test-commands.ts'
import { unwrapCommands } from './unwrap-command.ts'
import { writtenPaths } from './written-paths.ts'

export interface FinishedCommand extends ProjectFolders {
  /** Both redacted by the caller: what is cut here could no longer be recognised as a secret. */
  readonly command: string
  readonly output: string
  readonly isError: boolean
}

const MAX_COMMAND = 8000
const MAX_OUTPUT = 20_000
const MAX_PASSING = 60
const MAX_COMMANDS = 64
const MAX_SUCCEEDED = 6
const MAX_LABEL_LENGTH = 160

export function observeCommand(
  { command: given, output: all, isError: hasFailed, cwd, root }: FinishedCommand,
  failedBefore: readonly FailedCommand[],
): CommandObservation {
  const { command, output, isError } = withPrintedStatus(
    given.slice(0, MAX_COMMAND),
    bounded(all),
    hasFailed,
  )
  const folders = defined({ cwd, root })
  const commands = boundedCommands(command)
  const lines = linesOf(output)
  const statuses = commandStatuses(command, commands, isError)
  const main = commands.filter((each) => !isIncidental(each) && !isFilter(each))
  const onlyReads = main.every(isReader)
  const testCommands = commands.filter(({ words }) => runsTests(words))
  const test = detectTestRun(command, output, isError, root ?? cwd)
  const place = shellFolders(commands)[commands.indexOf(main.at(-1)!)] ?? '.'
  const pathOf = (path: string) => projectPath(path, place, folders) ?? path
  const failing = (test?.failures ?? []).map(({ at, ...failure }) => ({
    ...failure,
    ...defined({ at: at?.replace(/^[^:]+/, pathOf) }),
  }))
  const errors =
    onlyReads || failing.some(({ detail }) => detail !== undefined) || test?.passed === true
      ? []
      : errorsIn(lines, { isError, statuses, commands }, pathOf)
  const isClean = errors.length === 0 && !lines.some((line) => FAILED_LINE.test(line))
  const succeeded = commands.filter(
    (each, index) =>
      !isFilter(each) &&
      (statuses[index] === 'succeeded' ||
        (statuses[index] === 'hidden' && !isError && isClean && each.after === '|')),
  )
  const failedTest = test?.passed === false && (failing.length > 0 || /\d/.test(test.summary ?? ''))
  const failed = failedTest
    ? undefined
    : failedIn(commands, statuses, isError, errors.length > 0, isClean)
  const worked = workedAfter(succeeded, failedBefore)
  return {
    command: shorten(commandLabel(main, command), MAX_LABEL_LENGTH),
    errors,
    versions: isError ? [] : findVersions(commands, lines),
    ...(isError ? { written: [], removed: [] } : writtenPaths(commands, lines, folders)),
    commits: isError ? [] : commitMessagesFrom(command, output),
    failing,
    passing: testCommands.length === 0 ? [] : passingTests(lines, MAX_PASSING),
    succeeded: succeeded
      .filter((each) => intentOf(each) !== undefined)
      .map(commandText)
      .slice(-MAX_SUCCEEDED),
    ...defined({
      testRun: test === undefined ? undefined : { command: test.command, passed: test.passed },
      worked,
      failed,
    }),
  }
}

/** `x; echo "exit $?"` succeeds, and prints how x ended. */
function withPrintedStatus(command: string, output: string, isError: boolean) {
  const echo = /[;\n]\s{0,20}echo [^;&|\n]{0,80}\$\?[^;&|\n]{0,40}$/.exec(command.trimEnd())
  const end = output.trimEnd()
  const last = end.slice(end.lastIndexOf('\n') + 1)
  const printed = /^[^\d]{0,40}(\d{1,3})\D{0,10}$/.exec(last)?.[1]
  if (echo === null || printed === undefined || isError) return { command, output, isError }
  return {
    command: command.slice(0, echo.index),
    output: end.slice(0, Math.max(0, end.length - last.length)),
    isError: printed !== '0',
  }
}

/** A script of hundreds of commands says too little about each of them. */
function boundedCommands(command: string) {
  const commands = unwrapCommands(command)
  return commands.length > MAX_COMMANDS ? [] : commands
}

/** Keeps both ends: the first error and the totals. */
function bounded(output: string) {
  if (output.length <= MAX_OUTPUT) return output
  return `${output.slice(0, MAX_OUTPUT / 2)}\n${output.slice(-MAX_OUTPUT / 2)}`
}

function errorsIn(
  lines: readonly string[],
  {
    isError,
    statuses,
    commands,
  }: { isError: boolean; statuses: readonly CommandStatus[]; commands: readonly ShellCommand[] },
  pathOf: (path: string) => string,
) {
  const isHidden = statuses.some(
    (status, index) =>
      status === 'hidden' && !isReader(commands[index]!) && !isIncidental(commands[index]!),
  )
  return isError || isHidden ? findErrors(lines, isError, pathOf) : []
}

/** A line that says that something failed, whatever the exit status. */
const FAILED_LINE =
  /^\s*(?:\S+: )?(?:fatal|error|panic|usage)\b.{0,3}:|^\s*\w*(?:Error|Exception)(?: \[\w+\])?: |: (?:command not found|No such file or directory|Permission denied)$|^Traceback |\bunknown (?:option|command|argument)\b/i

function failedIn(
  commands: readonly ShellCommand[],
  statuses: readonly CommandStatus[],
  isError: boolean,
  isLocated: boolean,
  isClean: boolean,
): FailedCommand | undefined {
  const main = commands.filter((each) => !isIncidental(each))
  // A filter hides the status, but not the message.
  const hidden = isError || isClean || main.length !== 1 ? undefined : main[0]
  const isHidden = hidden !== undefined && statuses[commands.indexOf(hidden)] === 'hidden'
  const command = isHidden ? hidden : commands[statuses.indexOf('failed')]
  if (command === undefined || intentOf(command) === undefined) return undefined
  return { command: commandText(command), ...(isLocated ? { isLocated: true } : {}) }
}

function commandLabel(main: readonly ShellCommand[], command: string) {
  const last = main.at(-1)
  return last === undefined ? command.replace(/\s+/g, ' ').trim() : commandText(last)
}

/**
 * Without what changes nothing: tests that pass matter if they failed before, and a command that
 * succeeds if it showed an error. Undefined if nothing is left.
 */
export function worthRecording(
  observed: CommandObservation,
  known: Observations | undefined,
): CommandObservation | undefined {
  const { tests = [], errors = [], written = [] } = known ?? {}
  const facts = {
    ...observed,
    commits: [],
    written: observed.written.filter(({ change }) => change !== undefined),
    removed: observed.removed.filter((path) =>
      [...written.map((each) => each.path), ...errors.map(({ at }) => at)].some((each) =>
        each.startsWith(path),
      ),
    ),
    passing: tests.length === 0 ? [] : observed.passing,
    succeeded: errors.length === 0 ? [] : observed.succeeded,
  }
  const { worked, testRun, ...lists } = facts
  const hasFacts = Object.values(lists).some((list) => Array.isArray(list) && list.length > 0)
  const disproves = testRun?.passed === true && tests.length > 0
  return hasFacts || worked !== undefined || disproves ? facts : undefined
}
