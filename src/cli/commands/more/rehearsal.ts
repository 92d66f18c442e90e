import { resolve } from 'node:path'
import type { Script } from '../../../core.ts'
import { defineCommand } from '../../context/command.ts'
import { UsageError } from '../../context/context.ts'
import { textFlag, toggle } from '../../context/flags.ts'
import { plural } from '../../print/terminal/text.ts'

export const rehearsal = defineCommand({
  brief: 'Be an agent that follows a script, without a model',
  about: [
    'Speaks the Agent Client Protocol on standard input and output: for dry runs and tests of whatever drives an agent.',
    'Without a script each task (a prompt that begins "# Task NAME: …") is worked by writing rehearsal/NAME.md, committing it',
    'and reporting it done.',
    '',
    'A script (YAML or JSON) has tasks (by name, each a list of turns), default (turns of all others), window and start (tokens).',
    'A turn is a list of acts: say, run, ask, commit, done, blocked, failed, lie, fail, limit: TEXT; write, append: {path, text};',
    'usage, wait: NUMBER; compact, hang, die: true.',
  ].join('\n'),
  usage: [
    ['--script rehearsal.yml', 'follow this script'],
    ['--script rehearsal.yml --check', 'only say whether it can be followed'],
  ],
  flags: {
    script: textFlag('What to do, in YAML or JSON', 'FILE'),
    check: toggle('Read the script, say what it has, and end'),
  },
  async run({ context, print, json }, { script: path, check }) {
    const { loadScript, serveRehearsalOnStdio } = await import('./rehearsal-agent.ts')
    const script = loadScript(path === undefined ? undefined : resolve(context.cwd, path))
    if (check) return print(scriptJson(script), () => describeScript(script))
    if (json)
      throw new UsageError('--json goes with --check; an agent speaks its protocol', 'add --check')
    await serveRehearsalOnStdio(script, context.env)
  },
})

function scriptJson({ tasks, default: defaultTurns, window, start }: Script) {
  const turns = Object.fromEntries(Object.entries(tasks).map(([name, list]) => [name, list.length]))
  return { tasks: turns, default: defaultTurns?.length ?? 0, window, start }
}

function describeScript({ tasks, default: defaultTurns, window, start }: Script): string {
  return [
    ...Object.entries(tasks).map(([name, turns]) => `${name}: ${plural(turns.length, 'turn')}`),
    defaultTurns === undefined
      ? 'other tasks: rehearsed and reported done'
      : 'other tasks: as default says',
    `context: ${start} of ${window} tokens at the start`,
  ].join('\n')
}
