import { cleanText, shorten } from '../text/clean.ts'
import { mayRunTests } from './may-run-tests.ts'
import type { ShellCommand } from './shell-commands.ts'
import { runsTests } from './test-commands.ts'
import { failingTests, findErrorLine, findSummary } from './test-summary.ts'
import { programOf, unwrapCommands } from './unwrap-command.ts'

export interface DetectedTestRun {
  readonly command: string
  readonly passed: boolean
  readonly summary?: string
}

const LONGEST_COMMAND = 160
const LONGEST_SUMMARY = 160
const LONGEST_WITH_NAMES = 320
const NAMES = 3
const OUTPUT_START = 8000
const OUTPUT_END = 24_000
const LONGEST_LINE = 400

/** Undefined when a command ran no tests, when nothing tells how they went, or when `stint digest` has recorded them. */
export function detectTestRun(
  command: string,
  output: string,
  isError: boolean,
): DetectedTestRun | undefined {
  if (!mayRunTests(command)) return undefined
  const commands = unwrapCommands(command)
  const tests = commands.filter(({ words }) => runsTests(words))
  if (tests.length === 0) return undefined
  const lines = linesOf(output)
  if (/\bdigest\b/.test(command) && lines.some((line) => RECORDED.test(line))) return undefined
  const said = findSummary(lines)
  const status = statusOf(command, commands, tests, lines, isError)
  if (said === undefined && status === undefined) return undefined
  // Good words beside a failure: the tests were stopped by a threshold or a crash.
  const passed = said === undefined ? status === 'passed' : !said.isFailed && status !== 'failed'
  const summary = passed
    ? said?.text
    : describeFailure(said?.isFailed === false ? undefined : said?.text, lines)
  const run = tests.map(({ written }) => written.join(' ')).join(' && ')
  return {
    command: shorten(oneSpace(run), LONGEST_COMMAND),
    passed,
    ...(summary === undefined || summary === '' ? {} : { summary }),
  }
}

function describeFailure(said: string | undefined, lines: readonly string[]) {
  const text =
    said ??
    findErrorLine(lines) ??
    lines.findLast((line) => line.trim() !== '' && !/^Exit code \d+$/.test(line))?.trim()
  if (text === undefined) return undefined
  const names = failingTests(lines, NAMES)
  const short = shorten(oneSpace(text), LONGEST_SUMMARY)
  return names.length === 0
    ? short
    : shorten(`${short}: ${names.map(oneSpace).join('; ')}`, LONGEST_WITH_NAMES)
}

const RECORDED = /^all of it: .*; recorded in \S+$|^\s*"recordedIn": "/

function statusOf(
  source: string,
  commands: readonly ShellCommand[],
  tests: readonly ShellCommand[],
  lines: readonly string[],
  isError: boolean,
) {
  // A status that the command itself printed, as by `npm test; echo "exit $?"`. Of a pipe, `$?` is that of its end.
  const echo = /\b(?:echo|printf)\b[^;&|\n]*\$(\?|\{\?\}|\{PIPESTATUS\[0\]\})[^;&|\n]*$/.exec(
    source.trimEnd(),
  )
  if (echo !== null && (tests.includes(commands.at(-2)!) || echo[1]!.includes('PIPESTATUS'))) {
    const last = lines.findLast((line) => line.trim() !== '') ?? ''
    const printed = /(\d{1,3})\D*$/.exec(last)?.[1]
    if (printed !== undefined) return Number(printed) === 0 ? 'passed' : 'failed'
  }
  // A condition, or its opposite, takes the status for itself.
  if (/(?:^|[;&|({]\s*)(?:!|if|while|until)\s/.test(source)) return undefined
  const isAlone = commands.every((command) => {
    const program = programOf(command.words)
    return (
      tests.includes(command) ||
      command.words.length === 0 ||
      TRIVIAL.has(program) ||
      (command.before === '|' && PASSING_ON.has(program))
    )
  })
  // Whether it was the tests is certain only when nothing else could have failed.
  if (isError || lines.some((line) => STARTER_FAILED.test(line)))
    return isAlone ? 'failed' : undefined
  const decides = (command: ShellCommand) =>
    command.after === undefined ||
    command.after === '&&' ||
    (command.after === '|' && /\bpipefail\b/.test(source)) ||
    (command === commands.at(-1) && command.after !== '&')
  return tests.every(decides) ? 'passed' : undefined
}

// A filter or `|| true` hides the status of what starts the tests, but not what it says.
const STARTER_FAILED =
  /^\s*(?:g?make(?:\[\d+\])?: \*\*\*|npm (?:ERR!|error) (?:Test failed|Lifecycle|command failed)|ELIFECYCLE\b|error Command failed with exit code [1-9])/

/** Filters that fail for no reason of their own. */
const PASSING_ON = new Set(
  'tail head tee cat sed awk cut sort uniq tr wc less ts nl column'.split(' '),
)

const TRIVIAL = new Set(
  'cd pushd popd export set unset source . echo printf true : exit return sleep mkdir rm clear pwd date ulimit wait trap'.split(
    ' ',
  ),
)

function linesOf(output: string) {
  const isLong = output.length > OUTPUT_START + OUTPUT_END
  const ends = isLong ? `${output.slice(0, OUTPUT_START)}\n${output.slice(-OUTPUT_END)}` : output
  return cleanText(ends)
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE))
}

function oneSpace(text: string) {
  return text.replace(/\s+/g, ' ').trim()
}
