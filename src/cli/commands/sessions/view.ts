import { modelOf, renderModel, renderStateToon } from '../../../core.ts'
import type { SessionReading, SessionState } from '../../../core.ts'
import { type PublicSession, publicEntries, publicSession } from '../../../public/projection.ts'
import { formatToMinute } from '../../../text/times.ts'
import { UsageError } from '../../context/context.ts'
import { optionalSessionArgument, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import {
  describeActivity,
  describeDeliveries,
  entryLine,
  printSessions,
} from '../../print/session.ts'

export const view = defineProjectCommand({
  brief: 'Show a session, or a part of it',
  usage: [
    ['', 'the current session'],
    ['fix-auth --decisions', 'the decisions of one'],
    ['--progress --blockers --next', 'several parts'],
    ['--entries', 'every entry with its id'],
    ['--activity', 'what hooks noticed: requests, files, commits, test runs'],
    ['--delivery', 'what was put before the model, and the evidence that it arrived'],
    ['list', 'all sessions'],
  ],
  args: [optionalSessionArgument('The session to show, or the word list')],
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
  },
  async run({ project, output, pick, print, json }, flags, name) {
    if (flags.toon && json) throw new UsageError('give --toon or --json, not both')
    if (name === 'list')
      return printSessions(await project.list({}), json, output, project.trust.refuses)
    const { session } = await pick(name)
    if (flags.delivery) {
      const deliveries = await project.deliveries(session)
      return print({ deliveries }, () => describeDeliveries(deliveries))
    }
    const reading = await project.view(session)
    if (flags.toon) return output.line(renderStateToon(reading.state))
    const parts = PARTS.filter(({ flag }) => flags[flag])
    const value = parts.length === 0 ? publicSession(reading.state) : partsJson(parts, reading)
    print(value, () =>
      parts.length === 0
        ? renderModel(modelOf(reading.state))
        : parts.map((part) => partText(part, reading).trimEnd()).join('\n\n'),
    )
  },
})

interface ViewPart {
  readonly flag:
    | 'progress'
    | 'decisions'
    | 'discoveries'
    | 'blockers'
    | 'next'
    | 'activity'
    | 'entries'
  readonly title?: string
  /** The fields that `--json` prints. */
  readonly fields: readonly (keyof PublicSession)[]
}

const PARTS: readonly ViewPart[] = [
  { flag: 'progress', title: 'Progress', fields: ['steps', 'progress'] },
  { flag: 'decisions', title: 'Decisions', fields: ['decisions'] },
  { flag: 'discoveries', title: 'Discoveries', fields: ['discoveries'] },
  { flag: 'blockers', title: 'Blockers', fields: ['openBlockers', 'blockers'] },
  { flag: 'next', title: 'Next Steps', fields: ['next'] },
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
  },
  { flag: 'entries', fields: [] },
]

function partText({ flag, title }: ViewPart, { state, entries }: SessionReading): string {
  if (title !== undefined) return documentSection(state, title)
  if (flag === 'activity') return describeActivity(state)
  return [
    `${state.name}: ${entries.length} entries since ${formatToMinute(state.createdAt)}`,
    ...entries.map((entry) => entryLine(entry, () => entries)),
  ].join('\n')
}

function partsJson(parts: readonly ViewPart[], { state, entries }: SessionReading): object {
  const publicState = publicSession(state)
  const fields = parts.flatMap((part) => part.fields.map((field) => [field, publicState[field]]))
  const hasEntries = parts.some(({ flag }) => flag === 'entries')
  return {
    ...Object.fromEntries(fields),
    ...(hasEntries && { entries: publicEntries(entries) }),
  }
}

function documentSection(state: SessionState, title: string): string {
  const lines = renderModel(modelOf(state)).split('\n')
  const start = lines.indexOf(`## ${title}`)
  const end = lines.findIndex((line, index) => index > start && line.startsWith('## '))
  return lines.slice(start, end === -1 ? lines.length : end).join('\n')
}
