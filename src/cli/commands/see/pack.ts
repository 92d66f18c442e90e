// The context for a model: of a session, and of the repository.
import type { ExplainedSection, PackedSession, ProjectContext } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import { numberFlag, optionalSessionArgument, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'

export const pack = defineProjectCommand({
  brief: 'Print what a model would be given of a session',
  about:
    'A session within a number of tokens: fenced, what is settled first, then where things stand, what was found and done lately, and what the repository is. What does not fit is named with the command that shows it.',
  usage: [
    ['', 'the current session in 2000 tokens'],
    ['fix-auth --budget 600', 'one in less'],
    ['--budget 8000 --explain', 'what goes in, what it costs, what is left out and why'],
  ],
  args: [optionalSessionArgument('The session to pack')],
  flags: {
    budget: numberFlag('The most tokens it may take, from 300 to 20000 (2000)'),
    explain: toggle('Say of each section what went in, what it costs, what was left out, and why'),
  },
  async run({ project, pick, print }, flags, session) {
    const packed = await project.pack({ ...flags, ...(await pick(session)) })
    const { name, budget, tokens, text, mark, leftOut, explanation } = packed
    const sections = defined({ sections: explanation?.sections })
    print({ session: name, budget, tokens, text, mark, leftOut, ...sections }, () =>
      flags.explain ? describeExplanation(packed) : text,
    )
  },
})

function describeExplanation({ name, explanation }: PackedSession): string {
  const { budget, tokens, around, sections } = explanation!
  const emptySections = sections
    .filter(({ told }) => told === 'empty')
    .map(({ section }) => section)
  return [
    `${name}: ${tokens} of ${budget} tokens, in this order`,
    explanationLine(
      around,
      'around it',
      'the fence, the mark, and the line that names what is left out',
    ),
    ...sections
      .filter(({ told }) => told !== 'empty')
      .map((section) => explanationLine(section.tokens, section.section, sectionText(section))),
    ...(emptySections.length === 0
      ? []
      : [`Nothing there is to tell of: ${emptySections.join(', ')}`]),
  ].join('\n')
}

function sectionText({ told, shown, count, why, command }: ExplainedSection): string {
  const amount = told === 'all' ? (count === 1 ? 'told' : `all ${count}`) : `${shown} of ${count}`
  return why === undefined ? amount : `${amount}; ${why}: ${command}`
}

function explanationLine(tokens: number, name: string, text: string): string {
  return `${String(tokens).padStart(6)}  ${name.padEnd(28)}${text}`
}

export const project = defineProjectCommand({
  brief: 'Print what this repository is, in at most 500 tokens',
  about:
    "Languages, commands, layout, tests, conventions and the files written for agents, read from git's listing and a few manifests. Nothing in the repository is run. What is found is kept until HEAD or one of the files it came from changes.",
  usage: [
    ['', 'for an agent that has just arrived'],
    ['--explain', 'where each part was read, what it costs, what did not fit'],
    ['--refresh', 'read everything again'],
  ],
  flags: {
    refresh: toggle('Read everything again, whatever is kept'),
    explain: toggle('Say of each part where it was read, what it costs and what did not fit'),
  },
  async run({ project, print }, { refresh, explain }) {
    const projectContext = await project.context(defined({ refresh }))
    const { text, tokens, head, sources, topics, renewed } = projectContext
    const isCached = renewed === undefined
    print({ text, tokens, head, kept: isCached, ...defined({ renewed }), sources, topics }, () =>
      explain ? describeContext(projectContext) : text,
    )
  },
})

const RENEWED_TEXTS = {
  first: 'read for the first time',
  asked: 'read again, as asked',
  commit: 'read again, because HEAD is another commit',
  files: 'read again, because the tracked files or what they hold have changed',
}

function describeContext({ tokens, head, sources, topics, renewed }: ProjectContext): string {
  const headText = head === undefined ? 'before the first commit' : `at ${head.slice(0, 7)}`
  const emptyTopics = topics.filter(({ count }) => count === 0).map(({ topic }) => topic)
  return [
    `${tokens} of 500 tokens ${headText}; ${renewed === undefined ? 'as kept, and still true' : RENEWED_TEXTS[renewed]}`,
    ...topics
      .filter(({ count }) => count > 0)
      .map(
        ({ topic, tokens: cost, shown, count, isShortened, from }) =>
          `${String(cost).padStart(6)}  ${topic.padEnd(14)}${shown} of ${count}${isShortened ? ', shortened' : ''}; from ${from.join(', ')}`,
      ),
    ...(emptyTopics.length === 0 ? [] : [`Nothing was found of: ${emptyTopics.join(', ')}`]),
    `Files read: ${sources.join(', ') || 'none'}`,
  ].join('\n')
}
