import { modelOf, renderModel, renderStateToon } from '../../../core.ts'
import type { Reading, SessionState } from '../../../library.ts'
import { type PublicSession, publicEntries, publicSession } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import { minute } from '../../../text/times.ts'
import type { Context } from '../../context/context.ts'
import { describeActivity, describeDeliveries, entryLine, printList } from '../../print/session.ts'
import { Misuse } from '../../context/errors.ts'
import { json, optionalSession, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'

interface Flags {
  readonly current?: boolean
  readonly progress?: boolean
  readonly decisions?: boolean
  readonly discoveries?: boolean
  readonly blockers?: boolean
  readonly next?: boolean
  readonly entries?: boolean
  readonly activity?: boolean
  readonly delivery?: boolean
  readonly toon?: boolean
  readonly json?: boolean
}

export const view = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Show a session, or a part of it',
    customUsage: [
      { input: '', brief: 'the current session' },
      { input: 'fix-auth --decisions', brief: 'the decisions of one' },
      { input: '--progress --blockers --next', brief: 'several parts' },
      { input: '--entries', brief: 'every entry with its id' },
      { input: '--activity', brief: 'what hooks noticed: requests, files, commits, test runs' },
      {
        input: '--delivery',
        brief: 'what was put before the model, and the evidence that it arrived',
      },
      { input: 'list', brief: 'all sessions' },
    ],
  },
  parameters: {
    positional: optionalSession('The session to show, or the word list'),
    flags: {
      current: toggle('The current session (as without a name)'),
      progress: toggle('Only the progress'),
      decisions: toggle('Only the decisions'),
      discoveries: toggle('Only the discoveries'),
      blockers: toggle('Only the blockers'),
      next: toggle('Only the next steps'),
      entries: toggle('Every entry with its id, for --amend and --retract'),
      activity: toggle(
        'What hooks noticed: requests, files, commits, test runs, agents, the last thing said',
      ),
      delivery: toggle(
        'What was put before the model, with the evidence in the transcript that it arrived',
      ),
      toon: toggle('The summary as TOON, in few tokens'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      if (flags.toon === true && flags.json === true)
        throw new Misuse('give --toon or --json, not both')
      if (name === 'list') {
        printList(await project.list({}), flags.json, output)
        return
      }
      const chosen = await pick(name)
      if (flags.delivery === true) {
        const deliveries = await project.deliveries(chosen)
        output.result(flags.json, { deliveries }, () => describeDeliveries(deliveries))
        return
      }
      const reading = await project.view(chosen)
      if (flags.toon === true) {
        output.line(renderStateToon(reading.state))
        return
      }
      const parts = PARTS.filter(({ flag }) => flags[flag] === true)
      const value = parts.length === 0 ? publicSession(reading.state) : partsJson(parts, reading)
      output.result(flags.json, value, () =>
        parts.length === 0
          ? renderModel(modelOf(reading.state))
          : parts.map(({ words }) => words(reading).trimEnd()).join('\n\n'),
      )
    })
  },
})

interface Part {
  readonly flag:
    | 'progress'
    | 'decisions'
    | 'discoveries'
    | 'blockers'
    | 'next'
    | 'activity'
    | 'entries'
  /** The fields of the session that it prints for programs. */
  readonly fields: readonly (keyof PublicSession)[]
  words(reading: Reading): string
}

const PARTS: readonly Part[] = [
  {
    flag: 'progress',
    fields: ['steps', 'progress'],
    words: ({ state }) => section(state, 'Progress'),
  },
  {
    flag: 'decisions',
    fields: ['decisions'],
    words: ({ state }) => section(state, 'Decisions'),
  },
  {
    flag: 'discoveries',
    fields: ['discoveries'],
    words: ({ state }) => section(state, 'Discoveries'),
  },
  {
    flag: 'blockers',
    fields: ['openBlockers', 'blockers'],
    words: ({ state }) => section(state, 'Blockers'),
  },
  {
    flag: 'next',
    fields: ['next'],
    words: ({ state }) => section(state, 'Next Steps'),
  },
  {
    flag: 'activity',
    fields: [
      'requests',
      'changedFiles',
      'commits',
      'tests',
      'agents',
      'delegates',
      'conversations',
      'lastTurn',
    ],
    words: ({ state }) => describeActivity(state),
  },
  {
    flag: 'entries',
    fields: [],
    words: ({ entries, state }) =>
      [
        `${state.name}: ${entries.length} entries since ${minute(state.createdAt)}`,
        ...entries.map((entry) => entryLine(entry, () => entries)),
      ].join('\n'),
  },
]

function partsJson(parts: readonly Part[], { state, entries }: Reading): object {
  const whole = publicSession(state)
  const fields = parts.flatMap((part) => part.fields.map((field) => [field, whole[field]]))
  const hasEntries = parts.some(({ flag }) => flag === 'entries')
  return {
    ...Object.fromEntries(fields),
    ...(hasEntries ? { entries: publicEntries(entries) } : {}),
  }
}

/** One section of the document, as the document has it. */
function section(state: SessionState, title: string): string {
  const lines = renderModel(modelOf(state)).split('\n')
  const start = lines.indexOf(`## ${title}`)
  const end = lines.findIndex((line, index) => index > start && line.startsWith('## '))
  return lines.slice(start, end === -1 ? lines.length : end).join('\n')
}
