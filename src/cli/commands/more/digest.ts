import { DEFAULT_TOKENS, FEWEST_TOKENS } from '../../../core.ts'
import type { Artifact, Digest } from '../../../library.ts'
import { size } from '../../../text/amounts.ts'
import { plural } from '../../print/terminal/text.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import { minute } from '../../../text/times.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import type { Context } from '../../context/context.ts'
import { Misuse, describeError, errorJson } from '../../context/errors.ts'
import { json, number, text } from '../../context/flags.ts'
import { RunningLine } from '../../print/terminal/live.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface RunFlags {
  readonly label?: string
  readonly tokens?: number
  readonly json?: boolean
}

const RUN_FLAGS = {
  label: text('What to call the run'),
  tokens: number(`How many tokens the digest may have (default ${DEFAULT_TOKENS})`),
  json,
} as const

const run = buildCommand<RunFlags, string[], Context>({
  docs: {
    brief: 'Run a command and print what matters of its output',
    fullDescription:
      'Keeps all that the command prints in a file, and prints failures, errors, warnings, counts and the end of it, with the\npointer to the rest. Exits as the command does. No shell is in between: sh -c "…" runs what only a shell understands.',
    customUsage: [
      { input: '-- npm test', brief: 'everything behind -- is the command' },
      { input: '--tokens 200 --label "full suite" -- cargo test', brief: 'shorter, and named' },
      { input: '-- sh -c "make 2>&1 | grep -v note"', brief: 'what only a shell understands' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: String, brief: 'The command and its arguments', placeholder: 'COMMAND' },
    },
    flags: RUN_FLAGS,
  },
  async func(flags, ...command) {
    if (command.length === 0) throw new Misuse('say what to run', 'stint digest -- npm test')
    if ((flags.tokens ?? DEFAULT_TOKENS) < FEWEST_TOKENS)
      throw new Misuse(`a digest needs at least ${FEWEST_TOKENS} tokens`)
    const line = new RunningLine(this)
    await withProject(this, flags, async (project, output) => {
      try {
        const digest = await project.digest({
          command,
          ...defined({ label: flags.label, tokens: flags.tokens }),
          onOutput: (lines) => line.add(lines),
          by: 'cli',
        })
        line.end()
        output.result(flags.json, forPrograms(digest), () => digest.text)
        this.process.exitCode = digest.exitCode
      } catch (error) {
        line.end()
        const exitCode = exitCodeOf(error)
        if (exitCode === undefined) throw error
        if (flags.json === true) output.line(JSON.stringify(errorJson(error), undefined, 2))
        else this.process.stderr.write(`${describeError(error)}\n`)
        this.process.exitCode = exitCode
      }
    })
  },
})

/** What a shell would answer for a command that cannot be started. */
function exitCodeOf(error: unknown): number | undefined {
  const { exitCode } = error as { exitCode?: unknown }
  return typeof exitCode === 'number' ? exitCode : undefined
}

function forPrograms({ text: digest, ...facts }: Digest) {
  return { ...facts, digest: digest.split('\n') }
}

const list = buildCommand<{ json?: boolean }, [], Context>({
  docs: { brief: 'List the outputs that are kept here' },
  parameters: { flags: { json } },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const kept = await project.outputs.list()
      output.result(flags.json, kept, () =>
        kept.length === 0
          ? 'No output is kept here yet: stint digest -- COMMAND keeps one.'
          : describe(kept),
      )
    })
  },
})

function describe(kept: readonly Artifact[]): string {
  const total = kept.reduce((sum, { bytes }) => sum + bytes, 0)
  const lines = kept.map(({ id, at, bytes, runs }) => {
    const last = runs.at(-1)
    const what =
      last === undefined
        ? ''
        : `exit ${last.exit}  ${shorten(oneLine(last.label ?? last.command), 80)}`
    const often = runs.length > 1 ? ` (×${runs.length})` : ''
    return `${id}  ${minute(at)}  ${size(bytes).padStart(7)}  ${what}${often}`.trimEnd()
  })
  return [
    ...lines,
    `${plural(kept.length, 'output')}, ${size(total)} in all; they are yours to delete`,
  ].join('\n')
}

const show = buildCommand<{ lines?: string; grep?: string; json?: boolean }, [string], Context>({
  docs: {
    brief: 'Print an output that was kept, or a part of it',
    customUsage: [
      { input: '1a2b3c4d --lines 120-160', brief: 'these lines' },
      { input: '1a2b3c4d --grep timeout', brief: 'the lines with this text, with their numbers' },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: String, brief: 'The output, by its id or any beginning of it', placeholder: 'ID' },
      ],
    },
    flags: {
      lines: text('From which line to which', 'A-B'),
      grep: text('Only lines with this text, whatever its case'),
      json,
    },
  },
  async func(flags, id) {
    await withProject(this, flags, async (project, output) => {
      const range = flags.lines === undefined ? undefined : rangeOf(flags.lines)
      const { lines, ...artifact } = await project.outputs.show(
        id,
        defined({ lines: range, grep: flags.grep }),
      )
      if (flags.json === true)
        return output.result(true, { ...artifact, lines: [...lines] }, () => '')
      let count = 0
      for (const { number: at, text: line } of lines) {
        count += 1
        output.line(flags.grep === undefined ? `${line}\n` : `${at}: ${line}`)
      }
      if (count === 0)
        output.talk(
          artifact.bytes === 0 ? 'the command printed nothing' : 'there is no such line in it',
        )
    })
  },
})

function rangeOf(given: string): readonly [number, number] {
  const match = /^(\d+)(?:-(\d*))?$/.exec(given.trim())
  const from = Number(match?.[1] ?? 0)
  const to = match?.[2] === undefined ? from : match[2] === '' ? Infinity : Number(match[2])
  if (match === null || from < 1 || to < from)
    throw new Misuse(`"${given}" is no range of lines`, 'write it like 120-160, 120- or 120')
  return [from, to]
}

export const digest = buildRouteMap<'run' | 'list' | 'show', Context>({
  routes: { run, list, show },
  defaultCommand: 'run',
  docs: {
    brief: 'Run a command and print what matters of its output; list and show what was kept',
    fullDescription: [
      'Without a subcommand, runs what stands behind --, and takes the flags of run:',
      ...Object.entries(RUN_FLAGS).map(([name, { brief }]) => `  --${name.padEnd(13)}${brief}`),
    ].join('\n'),
  },
})
