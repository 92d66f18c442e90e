import { DIGEST_DEFAULT_TOKENS, DIGEST_MIN_TOKENS } from '../../../core.ts'
import type { Artifact } from '../../../library.ts'
import { formatSize } from '../../../text/format-amounts.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { formatToMinute } from '../../../text/times.ts'
import { defineCommandGroup, listFlags, defineProjectCommand } from '../../context/command.ts'
import { UsageError, describeError, errorJson } from '../../context/context.ts'
import { argument, checkedFlag, numberFlag, textFlag } from '../../context/flags.ts'
import { CommandOutputLine } from '../../print/terminal/progress-line.ts'
import { plural } from '../../print/terminal/text.ts'

const RUN_FLAGS = {
  label: textFlag('What to call the run'),
  tokens: numberFlag(`How many tokens the digest may have (default ${DIGEST_DEFAULT_TOKENS})`),
}

const run = defineProjectCommand({
  brief: 'Run a command and print what matters of its output',
  about:
    'Keeps all that the command prints in a file, and prints failures, errors, warnings, counts and the end of it, with the\npointer to the rest. Exits as the command does. No shell is in between: sh -c "…" runs what only a shell understands.',
  usage: [
    ['-- npm test', 'everything behind -- is the command'],
    ['--tokens 200 --label "full suite" -- cargo test', 'shorter, and named'],
    ['-- sh -c "make 2>&1 | grep -v note"', 'what only a shell understands'],
  ],
  args: argument('The command and its arguments', 'COMMAND'),
  flags: RUN_FLAGS,
  async run({ project, output, print, exit, json, context }, flags, ...command) {
    if (command.length === 0) throw new UsageError('say what to run', 'stint digest -- npm test')
    if ((flags.tokens ?? DIGEST_DEFAULT_TOKENS) < DIGEST_MIN_TOKENS)
      throw new UsageError(`a digest needs at least ${DIGEST_MIN_TOKENS} tokens`)
    const progressLine = new CommandOutputLine(context)
    const onOutput = (lines: Buffer) => progressLine.add(lines)
    try {
      const digest = await project.digest({ command, ...flags, onOutput, by: 'cli' })
      progressLine.end()
      const { text, ...facts } = digest
      print({ ...facts, digest: text.split('\n') }, () => text)
      exit(digest.exitCode)
    } catch (error) {
      progressLine.end()
      // The exit code a shell uses for a command that cannot start.
      const { exitCode } = error as { exitCode?: unknown }
      if (typeof exitCode !== 'number') throw error
      if (json) output.json(errorJson(error), 2)
      else context.process.stderr.write(`${describeError(error)}\n`)
      exit(exitCode)
    }
  },
})

const list = defineProjectCommand({
  brief: 'List the outputs that are kept here',
  async run({ project, print }) {
    const artifacts = await project.outputs.list()
    print(artifacts, () =>
      artifacts.length === 0
        ? 'No output is kept here yet: stint digest -- COMMAND keeps one.'
        : describeArtifacts(artifacts),
    )
  },
})

function describeArtifacts(artifacts: readonly Artifact[]): string {
  const total = artifacts.reduce((sum, { bytes }) => sum + bytes, 0)
  const lines = artifacts.map(({ id, at, bytes, runs }) => {
    const last = runs.at(-1)
    const lastRun =
      last === undefined
        ? ''
        : `exit ${last.exit}  ${shorten(oneLine(last.label ?? last.command), 80)}`
    const repeats = runs.length > 1 ? ` (×${runs.length})` : ''
    return `${id}  ${formatToMinute(at)}  ${formatSize(bytes).padStart(7)}  ${lastRun}${repeats}`.trimEnd()
  })
  return [
    ...lines,
    `${plural(artifacts.length, 'output')}, ${formatSize(total)} in all; they are yours to delete`,
  ].join('\n')
}

const show = defineProjectCommand({
  brief: 'Print an output that was kept, or a part of it',
  usage: [
    ['1a2b3c4d --lines 120-160', 'these lines'],
    ['1a2b3c4d --grep timeout', 'the lines with this text, with their numbers'],
  ],
  args: [argument('The output, by its id or any beginning of it', 'ID')],
  flags: {
    lines: checkedFlag(textFlag('From which line to which', 'A-B'), parseLineRange),
    grep: textFlag('Only lines with this text, whatever its case'),
  },
  async run({ project, output, print, json }, { lines: range, grep }, id) {
    const artifactOutput = await project.outputs.show(id, defined({ lines: range, grep }))
    const { lines, ...artifact } = artifactOutput
    if (json) return print({ ...artifact, lines: [...lines] }, () => '')
    let count = 0
    for (const { number: lineNumber, text: line } of lines) {
      count += 1
      output.line(grep === undefined ? `${line}\n` : `${lineNumber}: ${line}`)
    }
    if (count === 0)
      output.info(
        artifact.bytes === 0 ? 'the command printed nothing' : 'there is no such line in it',
      )
  },
})

function parseLineRange(input: string): readonly [number, number] {
  const match = /^(\d+)(?:-(\d*))?$/.exec(input.trim())
  const from = Number(match?.[1] ?? 0)
  const to = match?.[2] === undefined ? from : match[2] === '' ? Infinity : Number(match[2])
  if (match === null || from < 1 || to < from)
    throw new UsageError(`"${input}" is no range of lines`, 'write it like 120-160, 120- or 120')
  return [from, to]
}

export const digest = defineCommandGroup({
  brief: 'Run a command and print what matters of its output; list and show what was kept',
  about: [
    'Without a subcommand, runs what stands behind --, and takes the flags of run:',
    ...listFlags(RUN_FLAGS, 15),
  ].join('\n'),
  routes: { run, list, show },
  default: 'run',
})
