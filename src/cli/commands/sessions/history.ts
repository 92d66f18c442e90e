import type { ConversationRow, Project, Pruned } from '../../../library.ts'
import { size } from '../../../text/amounts.ts'
import { plural } from '../../print/terminal/text.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import { oneLine, shorten } from '../../../text/clean.ts'
import { minute } from '../../../text/times.ts'
import type { Context } from '../../context/context.ts'
import { conversationText } from '../../print/conversation.ts'
import { Misuse } from '../../context/errors.ts'
import { json, moment, optionalName, text, texts, timeAgo, toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { tableWithHead } from '../../print/terminal/layout.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

const FORMATS = ['text', 'json', 'anthropic', 'openai'] as const

interface ShowFlags {
  readonly format?: (typeof FORMATS)[number]
  readonly from?: string
  readonly to?: string
  readonly all?: boolean
  readonly full?: boolean
  readonly json?: boolean
}

const show = buildCommand<ShowFlags, [string?], Context>({
  docs: {
    brief: 'What was said in the conversations of a session',
    fullDescription:
      'Without an argument, and with the name of a session, lists its conversations and which of them are stored. With the id of a\nconversation, or any beginning of it, prints what was said; with --format also that of the latest conversation of a session.\nanthropic and openai are the messages that the harness would send next: the live branch, from the last compaction on.',
    customUsage: [
      { input: '', brief: 'the conversations of the session here' },
      { input: 'fix-auth', brief: 'those of another session' },
      { input: '--all', brief: 'all that are stored in this project' },
      { input: '669eb474', brief: 'what was said in one, tools in a line each' },
      { input: '669eb474 --full --from 2025-01-15', brief: 'all of it, from that day on' },
      {
        input: 'fix-auth --format anthropic',
        brief: 'the messages of its latest conversation, to go on with elsewhere',
      },
    ],
  },
  parameters: {
    positional: optionalName(
      'The session, or the conversation by the beginning of its id',
      'SESSION|CONVERSATION',
    ),
    flags: {
      format: {
        kind: 'enum',
        values: FORMATS,
        brief: 'What to print a conversation as',
        optional: true,
      },
      from: text('Only what was said from then on', 'DATE'),
      to: text('Only what was said until then', 'DATE'),
      all: toggle('List every conversation that is stored here'),
      full: toggle('Print tools, thoughts and what the harness added whole'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      if (flags.all === true && name !== undefined)
        throw new Misuse('--all lists, and takes no name', 'stint history --all')
      const history = await project.history()
      if (flags.all === true) return printList(await history.all(), undefined, flags, output)
      const meant = flags.format === undefined ? await history.find(name) : undefined
      if (meant !== undefined && 'session' in meant) {
        refuseForList(flags)
        return printList(
          await history.conversations(meant.session.id),
          meant.session.name,
          flags,
          output,
        )
      }
      await printConversation(project, await history.conversation(name), flags, output)
    })
  },
})

/** A list has no times and nothing folded. */
function refuseForList({ from, to, full }: ShowFlags): void {
  if (from === undefined && to === undefined && full !== true) return
  throw new Misuse(
    '--from, --to and --full are for one conversation',
    'add --format text for the latest of a session, or name one',
  )
}

async function printConversation(
  project: Project,
  row: ConversationRow,
  flags: ShowFlags,
  output: Output,
): Promise<void> {
  const history = await project.history()
  const span = defined({ from: moment(flags.from), to: moment(flags.to) })
  if (span.from !== undefined && span.to !== undefined && span.from > span.to)
    throw new Misuse('--from is later than --to: nothing was said between them', 'swap the two')
  const format = flags.format ?? (flags.json === true ? 'json' : 'text')
  switch (format) {
    case 'anthropic':
    case 'openai':
      return output.line(JSON.stringify(history[format](row.id, span), undefined, 2))
    case 'json':
      return output.line(
        JSON.stringify({ ...row, items: [...history.items(row.id, span)] }, undefined, 2),
      )
    case 'text':
      output.line(output.bold(`${row.id}  ${row.title}`.trimEnd()))
      output.line(output.dim(factsOf(row).join(' · ')))
      for (const line of conversationText(history.items(row.id, span), {
        isFull: flags.full === true,
        output,
      }))
        output.line(line)
  }
}

function factsOf({
  harness,
  model,
  startedAt,
  messages,
  compactions,
  bytes,
}: ConversationRow): readonly string[] {
  return [
    oneLine(harness),
    ...(model === undefined ? [] : [oneLine(model)]),
    ...(startedAt === undefined ? [] : [minute(startedAt)]),
    plural(messages, 'message'),
    ...(compactions === 0 ? [] : [plural(compactions, 'compaction')]),
    size(bytes),
  ]
}

function printList(
  rows: readonly ConversationRow[],
  session: string | undefined,
  flags: ShowFlags,
  output: Output,
): void {
  output.result(flags.json, rows, () => {
    if (rows.length === 0)
      return session === undefined
        ? 'No conversation is stored here yet: stint setup claude stores those to come, stint import brings in those that were.'
        : `No conversation of ${session} is known: stint setup claude lets Stint follow those to come.`
    const heads = [
      'conversation',
      'began',
      'harness',
      'model',
      'messages',
      'compactions',
      'size',
      'ended',
      'about',
    ]
    const total = rows.reduce((sum, { bytes }) => sum + bytes, 0)
    return [
      ...tableWithHead(heads, rows.map(cellsOf), output, [4, 5, 6]),
      `${plural(rows.length, 'conversation')}, ${size(total)}`,
    ].join('\n')
  })
}

/** The shortest beginning of an id that tells it from others. Ids that begin with their time do so late. */
const ID_SHOWN = 13

function cellsOf(row: ConversationRow): readonly string[] {
  const {
    id,
    startedAt,
    harness,
    model,
    isStored,
    messages,
    compactions,
    bytes,
    endedBecause,
    title,
  } = row
  const figures = isStored
    ? [String(messages), String(compactions), size(bytes)]
    : ['', '', 'not stored']
  return [
    id.slice(0, ID_SHOWN),
    startedAt === undefined ? '' : minute(startedAt),
    oneLine(harness),
    oneLine(model ?? ''),
    ...figures,
    shorten(oneLine(endedBecause ?? ''), 20),
    shorten(title, 60),
  ]
}

interface PruneFlags {
  readonly olderThan?: string
  readonly conversation?: readonly string[]
  readonly outputs?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

const prune = buildCommand<PruneFlags, [], Context>({
  docs: {
    brief: 'Make room: let go of what was said long ago, or of large outputs',
    fullDescription:
      'Nothing that was said is deleted by age. This removes what you name, and what nothing refers to any more; without a flag only the\nlatter. With --outputs the conversations stay, and only what is long in them goes: outputs of tools, pictures. What the\njournal recorded stays in any case.',
    customUsage: [
      { input: '--dry-run --older-than 90d', brief: 'what that would free' },
      {
        input: '--older-than 90d --outputs',
        brief: 'keep what was said, let go of the large outputs',
      },
      { input: '--conversation 669eb474', brief: 'one conversation' },
    ],
  },
  parameters: {
    flags: {
      olderThan: text(
        'Conversations of which nothing was stored for so long: 90d, 12w, or since a date',
        'TIME',
      ),
      conversation: texts('This conversation, by the beginning of its id', 'ID'),
      outputs: toggle('Only outputs of tools and pictures'),
      dryRun: toggle('Remove nothing and say what it would free'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const history = await project.history()
      const before = flags.olderThan === undefined ? undefined : timeAgo(flags.olderThan)
      const { conversation: conversations, outputs, dryRun } = flags
      const pruned = await history.prune(defined({ before, conversations, outputs, dryRun }))
      output.result(flags.json, pruned, () => describePruned(pruned, output))
    })
  },
})

function describePruned(
  { isDryRun, conversations, blobs, young, busy, left }: Pruned,
  output: Output,
): string {
  const freed = conversations.reduce((sum, { bytes }) => sum + bytes, 0) + blobs.bytes
  const parts = [
    ...(conversations.length === 0 ? [] : [plural(conversations.length, 'conversation')]),
    ...(blobs.count === 0 ? [] : [`${blobs.count} of the large outputs and pictures`]),
  ]
  const head =
    parts.length === 0
      ? 'Nothing to remove.'
      : `${isDryRun ? 'Would free' : 'Freed'} ${size(freed)}: ${parts.join(', ')}.`
  return [
    output.bold(head),
    ...conversations.map(({ id, bytes }) => `   ${size(bytes).padStart(7)}  ${id}`),
    ...busy.map((id) => `   ${id} is being written to and stays; try again`),
    ...(young === 0
      ? []
      : [`   ${young} of the large outputs and pictures kept, written within the last 10 minutes`]),
    `${isDryRun ? 'It leaves' : 'Left'}: ${plural(left.conversations, 'conversation')}, ${size(left.bytes)}; ${size(left.blobBytes)} of large outputs and pictures.`,
  ].join('\n')
}

export const history = buildRouteMap<'show' | 'prune', Context>({
  routes: { show, prune },
  defaultCommand: 'show',
  docs: {
    brief: 'What was said: list conversations, read one, give its messages out, make room',
    fullDescription:
      'Without a subcommand as show: lists the conversations of the session here or of the one named; prints what was said in the\nconversation named. stint history show --help has the flags.',
  },
})
