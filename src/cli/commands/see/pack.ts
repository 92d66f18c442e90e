import type { ExplainedSection, Packed } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { json, number, optionalSession, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly budget?: number
  readonly explain?: boolean
  readonly json?: boolean
}

export const pack = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Print what a model would be given of a session',
    fullDescription:
      'A session within a number of tokens: fenced, what is settled first, then where things stand, what was found and done lately, and what the repository is. What does not fit is named with the command that shows it.',
    customUsage: [
      { input: '', brief: 'the current session in 2000 tokens' },
      { input: 'fix-auth --budget 600', brief: 'one in less' },
      {
        input: '--budget 8000 --explain',
        brief: 'what goes in, what it costs, what is left out and why',
      },
    ],
  },
  parameters: {
    positional: optionalSession('The session to pack'),
    flags: {
      budget: number('The most tokens it may take, from 300 to 20000 (2000)'),
      explain: toggle(
        'Say of each section what went in, what it costs, what was left out, and why',
      ),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      const packed = await project.pack(
        defined({ session: await pick(name), budget: flags.budget, explain: flags.explain }),
      )
      output.result(flags.json, packedJson(packed), () =>
        flags.explain === true ? describeExplanation(packed) : packed.text,
      )
    })
  },
})

function packedJson({ name, budget, tokens, text, mark, leftOut, explanation }: Packed) {
  return {
    session: name,
    budget,
    tokens,
    text,
    mark,
    leftOut,
    ...defined({ sections: explanation?.sections }),
  }
}

function describeExplanation({ name, explanation }: Packed): string {
  const { budget, tokens, around, sections } = explanation!
  return [
    `${name}: ${tokens} of ${budget} tokens, in this order`,
    line(around, 'around it', 'the fence, the mark, and the line that names what is left out'),
    ...sections
      .filter(({ told }) => told !== 'empty')
      .map((section) => line(section.tokens, section.section, words(section))),
    ...empty(sections),
  ].join('\n')
}

function words({ told, shown, count, why, command }: ExplainedSection): string {
  const amount = told === 'all' ? (count === 1 ? 'told' : `all ${count}`) : `${shown} of ${count}`
  return why === undefined ? amount : `${amount}; ${why}: ${command}`
}

function line(tokens: number, name: string, text: string): string {
  return `${String(tokens).padStart(6)}  ${name.padEnd(28)}${text}`
}

function empty(sections: readonly ExplainedSection[]): readonly string[] {
  const names = sections.filter(({ told }) => told === 'empty').map(({ section }) => section)
  return names.length === 0 ? [] : [`Nothing there is to tell of: ${names.join(', ')}`]
}
