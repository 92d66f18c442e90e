import type { Script } from '../../../core.ts'
import { buildCommand } from '@stricli/core'
import { resolve } from 'node:path'
import type { Context } from '../../context/context.ts'
import { Misuse, describeError, errorJson, exitCodeFor } from '../../context/errors.ts'
import { json, text, toggle } from '../../context/flags.ts'
import { Output } from '../../context/output.ts'

interface RehearsalFlags {
  readonly script?: string
  readonly check?: boolean
  readonly json?: boolean
}

export const rehearsal = buildCommand<RehearsalFlags, [], Context>({
  docs: {
    brief: 'Be an agent that follows a script, without a model',
    fullDescription: [
      'Speaks the Agent Client Protocol on standard input and output: for dry runs and tests of whatever drives an agent.',
      'Without a script each task (a prompt that begins "# Task NAME: …") is worked by writing rehearsal/NAME.md, committing it',
      'and reporting it done.',
      '',
      'A script (YAML or JSON) has tasks (by name, each a list of turns), default (turns of all others), window and start (tokens).',
      'A turn is a list of acts: say, run, ask, commit, done, blocked, failed, lie, fail, limit: TEXT; write, append: {path, text};',
      'usage, wait: NUMBER; compact, hang, die: true.',
    ].join('\n'),
    customUsage: [
      { input: '--script rehearsal.yml', brief: 'follow this script' },
      { input: '--script rehearsal.yml --check', brief: 'only say whether it can be followed' },
    ],
  },
  parameters: {
    flags: {
      script: text('What to do, in YAML or JSON', 'FILE'),
      check: toggle('Read the script, say what it has, and end'),
      json,
    },
  },
  async func(flags) {
    const output = new Output(this)
    try {
      const { loadScript, serveOnStandardStreams } = await import('./rehearsal-agent.ts')
      const script = loadScript(
        flags.script === undefined ? undefined : resolve(this.cwd, flags.script),
      )
      if (flags.check === true)
        return output.result(flags.json, summary(script), () => words(script))
      if (flags.json === true)
        throw new Misuse('--json goes with --check; an agent speaks its protocol', 'add --check')
      await serveOnStandardStreams(script, this.env)
    } catch (error) {
      if (flags.json === true) output.line(JSON.stringify(errorJson(error), undefined, 2))
      else this.process.stderr.write(`${describeError(error)}\n`)
      this.process.exitCode = exitCodeFor(error)
    }
  },
})

function summary({ tasks, default: otherwise, window, start }: Script) {
  const turns = Object.fromEntries(Object.entries(tasks).map(([name, list]) => [name, list.length]))
  return { tasks: turns, default: otherwise?.length ?? 0, window, start }
}

function words(script: Script): string {
  const { tasks, window, start } = summary(script)
  const lines = Object.entries(tasks).map(
    ([name, turns]) => `${name}: ${turns === 1 ? '1 turn' : `${turns} turns`}`,
  )
  const others =
    script.default === undefined
      ? 'other tasks: rehearsed and reported done'
      : 'other tasks: as default says'
  return [...lines, others, `context: ${start} of ${window} tokens at the start`].join('\n')
}
