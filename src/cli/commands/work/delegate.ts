import { buildCommand, buildRouteMap } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { START_FLAGS, type StartFlags, delegateRequest } from '../../context/delegate-flags.ts'
import { describeStarted, isGood, rowWithNext } from '../../print/delegate.ts'
import { Interrupt } from '../../context/interrupt.ts'
import { waitFor } from '../../print/watch-delegates.ts'
import { withDelegates } from '../../context/with-delegates.ts'
import { withRuns } from '../../context/with-project.ts'
import { discard, retry, stop } from './delegate-end.ts'
import { show, wait } from './delegate-look.ts'

const start = buildCommand<StartFlags, string[], Context>({
  docs: {
    brief: 'Start an agent in the background',
    fullDescription:
      'It works on a branch and in a worktree of its own and has a session of its own. When its work is committed and the verify command is green it is\nready, and stint merge brings it into the branch that it began from. One that reviews or researches only reads, and leaves a report.\nThe order may be left away with --task; - reads it from standard input.',
    customUsage: [
      { input: '"Write tests for the parser" --as tests', brief: 'as somebody who writes tests' },
      { input: '--task fix-login --verify "npm test"', brief: 'a task of the backlog' },
      {
        input: '"Which of our queries are slow, and why?" --as research',
        brief: 'one that only reads',
      },
      {
        input: '"Document the API" --as docs --group release --files "docs/**"',
        brief: 'one of several that belong together',
      },
      {
        input: '"Fix the sweep" --base release-1 --max-minutes 30 --budget-usd 2',
        brief: 'elsewhere, within bounds',
      },
      { input: '--wait - < order.md', brief: 'the order from a file, and stay until it is done' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: String, brief: 'What is to be done', placeholder: 'WHAT' },
    },
    flags: START_FLAGS,
  },
  async func(flags, ...words) {
    await withDelegates(this, flags, async (scene) => {
      const { delegates, output, shown } = scene
      const row = shown(await delegates.start(await delegateRequest(this, flags, words, COMMANDS)))
      if (flags.wait !== true)
        return output.result(flags.json, row, () => describeStarted(row, output))
      if (flags.json !== true) output.line(describeStarted(row, output))
      const interrupt = new Interrupt()
      try {
        const [ended = row] = await waitFor(this, scene, [row], interrupt)
        output.result(flags.json, ended, () => rowWithNext(ended))
        this.process.exitCode = interrupt.exitCode(isGood(ended))
      } finally {
        interrupt.dispose()
      }
    })
  },
})

/** What the process in the background runs. */
const work = buildCommand<{}, [string], Context>({
  docs: { brief: 'Work on a delegate here; stint delegate starts this by itself' },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ parse: String, brief: 'The delegate', placeholder: 'ID' }],
    },
  },
  async func(_flags, id) {
    await withRuns(this, {}, async ({ delegates }) => {
      const { plainView } = await import('../../print/run/show-run.ts')
      const log = plainView((text) => this.process.stdout.write(text))
      await delegates.work(id, (event) => log.take(event))
    })
  },
})

const ROUTES = { start, show, wait, stop, retry, discard, work } as const

/** Those that a person types. */
const COMMANDS = Object.keys(ROUTES).filter((name) => name !== 'work')

/** A flag as it is typed. */
function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export const delegate = buildRouteMap<keyof typeof ROUTES, Context>({
  routes: ROUTES,
  defaultCommand: 'start',
  docs: {
    brief: 'Agents in the background: start, show, wait, stop, retry, discard',
    hideRoute: { work: true },
    fullDescription: [
      'stint delegate "What is to be done" starts an agent on a branch and in a worktree of its own, and answers at once.',
      'stint delegates lists them, stint merge brings in what is ready. Without a subcommand it takes the flags of start:',
      ...Object.entries(START_FLAGS).map(
        ([name, { brief }]) => `  ${flagName(name).padEnd(16)}${brief}`,
      ),
    ].join('\n'),
  },
})
