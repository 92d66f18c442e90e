import type { ProjectContext } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { json, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly refresh?: boolean
  readonly explain?: boolean
  readonly json?: boolean
}

export const project = buildCommand<Flags, [], Context>({
  docs: {
    brief: 'Print what this repository is, in at most 500 tokens',
    fullDescription:
      "Languages, commands, layout, tests, conventions and the files written for agents, read from git's listing and a few manifests. Nothing in the repository is run. What is found is kept until HEAD or one of the files it came from changes.",
    customUsage: [
      { input: '', brief: 'for an agent that has just arrived' },
      { input: '--explain', brief: 'where each part was read, what it costs, what did not fit' },
      { input: '--refresh', brief: 'read everything again' },
    ],
  },
  parameters: {
    flags: {
      refresh: toggle('Read everything again, whatever is kept'),
      explain: toggle('Say of each part where it was read, what it costs and what did not fit'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (opened, output) => {
      const context = await opened.context(defined({ refresh: flags.refresh }))
      output.result(flags.json, contextJson(context), () =>
        flags.explain === true ? describe(context) : context.text,
      )
    })
  },
})

function contextJson({ text, tokens, head, sources, topics, renewed }: ProjectContext) {
  return {
    text,
    tokens,
    head,
    kept: renewed === undefined,
    ...defined({ renewed }),
    sources,
    topics,
  }
}

const WHY = {
  first: 'read for the first time',
  asked: 'read again, as asked',
  commit: 'read again, because HEAD is another commit',
  files: 'read again, because the tracked files or what they hold have changed',
}

function describe({ tokens, head, sources, topics, renewed }: ProjectContext): string {
  const at = head === undefined ? 'before the first commit' : `at ${head.slice(0, 7)}`
  const told = topics.filter(({ count }) => count > 0)
  const missing = topics.filter(({ count }) => count === 0).map(({ topic }) => topic)
  return [
    `${tokens} of 500 tokens ${at}; ${renewed === undefined ? 'as kept, and still true' : WHY[renewed]}`,
    ...told.map(
      ({ topic, tokens: cost, shown, count, isShortened, from }) =>
        `${String(cost).padStart(6)}  ${topic.padEnd(14)}${shown} of ${count}${isShortened ? ', shortened' : ''}; from ${from.join(', ')}`,
    ),
    ...(missing.length === 0 ? [] : [`Nothing was found of: ${missing.join(', ')}`]),
    `Files read: ${sources.join(', ') || 'none'}`,
  ].join('\n')
}
