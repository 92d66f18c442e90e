import { cleanText, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { type TestFailure, findFailures } from './find-failures.ts'
import { mayRunTests } from './may-run-tests.ts'
import type { ShellCommand } from './shell-commands.ts'
import { runsTests } from './test-commands.ts'
import { failingTests, findErrorLine, findSummary } from './test-summary.ts'
import { programOf, unwrapCommands } from './unwrap-command.ts'
import { withholdInstructions } from './withhold-instructions.ts'

export interface DetectedTestRun {
  readonly command: string
  readonly passed: boolean
  readonly summary?: string
  readonly failures?: readonly TestFailure[]
}

const MAX_COMMAND_LENGTH = 160
const MAX_SUMMARY_LENGTH = 160
const MAX_LENGTH_WITH_NAMES = 320
const MAX_NAMES = 3
const OUTPUT_START = 8000
const OUTPUT_END = 24_000
const MAX_LINE_LENGTH = 400

/**
 * Undefined if the command ran no tests, if their result is unknown, or if `stint digest` has
 * recorded them. Paths inside `folder` become relative to it.
 */
export function detectTestRun(
  command: string,
  output: string,
  isError: boolean,
  folder?: string,
): DetectedTestRun | undefined {
  if (!mayRunTests(command)) return undefined
  const commands = unwrapCommands(command)
  const tests = commands.filter(({ words }) => runsTests(words))
  if (tests.length === 0) return undefined
  const lines = linesOf(output)
  if (/\bdigest\b/.test(command) && lines.some((line) => RECORDED.test(line))) return undefined
  const found = findSummary(lines)
  const status = exitStatus(command, commands, tests, lines, isError)
  if (found === undefined && status === undefined) {
    // `node --test | head` cuts off the totals, but not what failed above.
    const shown = findFailures(lines, testFileIn(tests), folder).filter(
      ({ detail }) => detail !== undefined,
    )
    return shown.length === 0 || isError
      ? undefined
      : { ...named(tests), passed: false, failures: shown }
  }
  // A passing summary with a failing status: a coverage threshold or a crash.
  const passed = found === undefined ? status === 'passed' : !found.isFailed && status !== 'failed'
  const summary = passed
    ? found?.text
    : describeFailure(found?.isFailed === false ? undefined : found?.text, lines)
  const failures = passed ? [] : findFailures(lines, testFileIn(tests), folder)
  return {
    ...named(tests),
    passed,
    ...(summary === undefined || summary === '' ? {} : { summary: withholdInstructions(summary) }),
    ...defined({ failures: failures.length === 0 ? undefined : failures }),
  }
}

function named(tests: readonly ShellCommand[]) {
  const run = tests.map(({ written }) => written.join(' ')).join(' && ')
  return { command: shorten(collapseSpaces(run), MAX_COMMAND_LENGTH) }
}

function testFileIn(tests: readonly ShellCommand[]) {
  const words = tests.flatMap((test) => test.words)
  return words.findLast((word) => /\.\w{1,4}$/.test(word)) ?? words.join(' ')
}

function describeFailure(found: string | undefined, lines: readonly string[]) {
  const text =
    found ??
    findErrorLine(lines) ??
    lines.findLast((line) => line.trim() !== '' && !/^Exit code \d+$/.test(line))?.trim()
  if (text === undefined) return undefined
  const names = failingTests(lines, MAX_NAMES)
  const short = shorten(collapseSpaces(text), MAX_SUMMARY_LENGTH)
  return names.length === 0
    ? short
    : shorten(`${short}: ${names.map(collapseSpaces).join('; ')}`, MAX_LENGTH_WITH_NAMES)
}

const RECORDED = /^all of it: .*; recorded in \S+$|^\s*"recordedIn": "/

function exitStatus(
  source: string,
  commands: readonly ShellCommand[],
  tests: readonly ShellCommand[],
  lines: readonly string[],
  isError: boolean,
) {
  // An exit status printed by the command itself: `npm test; echo "exit $?"`. In a pipe, `$?`
  // belongs to the last command.
  const echo = /\b(?:echo|printf)\b[^;&|\n]*\$(\?|\{\?\}|\{PIPESTATUS\[0\]\})[^;&|\n]*$/.exec(
    source.trimEnd(),
  )
  if (echo !== null && (tests.includes(commands.at(-2)!) || echo[1]!.includes('PIPESTATUS'))) {
    const last = lines.findLast((line) => line.trim() !== '') ?? ''
    const printed = /(\d{1,3})\D*$/.exec(last)?.[1]
    if (printed !== undefined) return Number(printed) === 0 ? 'passed' : 'failed'
  }
  // A condition or negation consumes the exit status.
  if (/(?:^|[;&|({]\s*)(?:!|if|while|until)\s/.test(source)) return undefined
  const isAlone = commands.every((command) => {
    const program = programOf(command.words)
    return (
      tests.includes(command) ||
      command.words.length === 0 ||
      TRIVIAL.has(program) ||
      (command.before === '|' && FILTERS.has(program))
    )
  })
  // The tests failed for certain only if nothing else could have failed.
  if (isError || lines.some((line) => STARTER_FAILED.test(line)))
    return isAlone ? 'failed' : undefined
  const decides = (command: ShellCommand) =>
    command.after === undefined ||
    command.after === '&&' ||
    (command.after === '|' && /\bpipefail\b/.test(source)) ||
    (command === commands.at(-1) && command.after !== '&')
  return tests.every(decides) ? 'passed' : undefined
}

// A filter or `|| true` hides the exit status of the starter, but not its message.
const STARTER_FAILED =
  /^\s*(?:g?make(?:\[\d+\])?: \*\*\*|npm (?:ERR!|error) (?:Test failed|Lifecycle|command failed)|ELIFECYCLE\b|error Command failed with exit code [1-9])/

/** Filters that do not fail by themselves. */
const FILTERS = new Set(
  'tail head tee cat sed awk cut sort uniq tr wc less ts nl column'.split(' '),
)

const TRIVIAL = new Set(
  'cd pushd popd export set unset source . echo printf true : exit return sleep mkdir rm clear pwd date ulimit wait trap'.split(
    ' ',
  ),
)

export function linesOf(output: string): readonly string[] {
  const isLong = output.length > OUTPUT_START + OUTPUT_END
  const ends = isLong ? `${output.slice(0, OUTPUT_START)}\n${output.slice(-OUTPUT_END)}` : output
  return cleanText(ends)
    .split('\n')
    .map((line) => line.slice(0, MAX_LINE_LENGTH))
}

function collapseSpaces(text: string) {
  return text.replace(/\s+/g, ' ').trim()
}
