import type { ConversationRow, History, Pruned } from '../../../library.ts'
import { formatSize } from '../../../text/format-amounts.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { formatToMinute } from '../../../text/times.ts'
import {
  type Flags,
  type Invocation,
  defineCommandGroup,
  defineProjectCommand,
} from '../../context/command.ts'
import { UsageError, type Output } from '../../context/context.ts'
import {
  checkedFlag,
  dateFlag,
  enumFlag,
  optionalArgument,
  textFlag,
  repeatedTextFlag,
  parseTimeAgo,
  toggle,
} from '../../context/flags.ts'
import { conversationText } from '../../print/conversation.ts'
import { tableWithHead } from '../../print/terminal/layout.ts'
import { FROM_ELSEWHERE } from '../../print/origin.ts'
import { plural } from '../../print/terminal/text.ts'

const SHOW_FLAGS = {
  format: enumFlag(['text', 'json', 'anthropic', 'openai'], 'What to print a conversation as'),
  from: dateFlag('Only what was said from then on'),
  to: dateFlag('Only what was said until then'),
  all: toggle('List every conversation that is stored here'),
  full: toggle('Print tools, thoughts and what the harness added whole'),
}

type ShowFlags = Flags<typeof SHOW_FLAGS>

const show = defineProjectCommand({
  brief: 'What was said in the conversations of a session',
  about:
    'Without an argument, and with the name of a session, lists its conversations and which of them are stored. With the id of a\nconversation, or any beginning of it, prints what was said; with --format also that of the latest conversation of a session.\nanthropic and openai are the messages that the harness would send next: the live branch, from the last compaction on.',
  usage: [
    ['', 'the conversations of the session here'],
    ['fix-auth', 'those of another session'],
    ['--all', 'all that are stored in this project'],
    ['669eb474', 'what was said in one, tools in a line each'],
    ['669eb474 --full --from 2025-01-15', 'all of it, from that day on'],
    [
      'fix-auth --format anthropic',
      'the messages of its latest conversation, to go on with elsewhere',
    ],
  ],
  args: [
    optionalArgument(
      'The session, or the conversation by the beginning of its id',
      'SESSION|CONVERSATION',
    ),
  ],
  flags: SHOW_FLAGS,
  async run(invocation, flags, name) {
    if (flags.all && name !== undefined)
      throw new UsageError('--all lists, and takes no name', 'stint history --all')
    const history = await invocation.project.history()
    if (flags.all) return printList(await history.all(), undefined, invocation)
    const match = flags.format === undefined ? await history.find(name) : undefined
    if (match === undefined || !('session' in match))
      return printConversation(history, await history.conversation(name), flags, invocation)
    if (flags.from !== undefined || flags.to !== undefined || flags.full)
      throw new UsageError(
        '--from, --to and --full are for one conversation',
        'add --format text for the latest of a session, or name one',
      )
    const { session } = match
    printList(await history.conversations(session.id), session.name, invocation)
  },
})

function printConversation(
  history: History,
  row: ConversationRow,
  { from, to, full, ...flags }: ShowFlags,
  { output, json }: Invocation,
): void {
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError('--from is later than --to: nothing was said between them', 'swap the two')
  const format = flags.format ?? (json ? 'json' : 'text')
  const span = defined({ from, to })
  const printJson = (value: unknown) => output.json(value, 2)
  if (format === 'json') return printJson({ ...row, items: [...history.items(row.id, span)] })
  if (format !== 'text') return printJson(history[format](row.id, span))
  const { id, title, harness, model, startedAt, messages, compactions, bytes } = row
  const facts = [
    oneLine(harness),
    ...(model === undefined ? [] : [oneLine(model)]),
    ...(startedAt === undefined ? [] : [formatToMinute(startedAt)]),
    plural(messages, 'message'),
    ...(compactions === 0 ? [] : [plural(compactions, 'compaction')]),
    formatSize(bytes),
    ...(row.isFromElsewhere === true ? [FROM_ELSEWHERE] : []),
  ]
  output.line(output.bold(`${id}  ${title}`.trimEnd()))
  output.line(output.dim(facts.join(' · ')))
  const isFull = full === true
  for (const line of conversationText(history.items(id, span), { isFull, output }))
    output.line(line)
}

const COLUMNS = [
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

function printList(
  rows: readonly ConversationRow[],
  session: string | undefined,
  { print, output }: Invocation,
): void {
  print(rows, () => {
    if (rows.length === 0)
      return session === undefined
        ? 'No conversation is stored here yet: stint setup claude stores those to come, stint import brings in those that were.'
        : `No conversation of ${session} is known: stint setup claude lets Stint follow those to come.`
    const total = rows.reduce((sum, { bytes }) => sum + bytes, 0)
    return [
      ...tableWithHead(COLUMNS, rows.map(toCells), output, [4, 5, 6]),
      `${plural(rows.length, 'conversation')}, ${formatSize(total)}`,
    ].join('\n')
  })
}

/** Long enough to be unique: ids that start with a timestamp differ only towards the end. */
const SHOWN_ID_LENGTH = 13

function toCells(row: ConversationRow): readonly string[] {
  const { id, startedAt, harness, model, isStored, messages, compactions, bytes } = row
  return [
    id.slice(0, SHOWN_ID_LENGTH),
    startedAt === undefined ? '' : formatToMinute(startedAt),
    oneLine(harness),
    oneLine(model ?? ''),
    ...(isStored
      ? [String(messages), String(compactions), formatSize(bytes)]
      : ['', '', 'not stored']),
    shorten(oneLine(row.endedBecause ?? ''), 20),
    `${row.isFromElsewhere === true ? `${FROM_ELSEWHERE} ` : ''}${shorten(row.title, 60)}`.trimEnd(),
  ]
}

const prune = defineProjectCommand({
  brief: 'Make room: let go of what was said long ago, or of large outputs',
  about:
    'Nothing that was said is deleted by age. This removes what you name, and what nothing refers to any more; without a flag only the\nlatter. With --outputs the conversations stay, and only what is long in them goes: outputs of tools, pictures. What the\njournal recorded stays in any case.',
  usage: [
    ['--dry-run --older-than 90d', 'what that would free'],
    ['--older-than 90d --outputs', 'keep what was said, let go of the large outputs'],
    ['--conversation 669eb474', 'one conversation'],
  ],
  flags: {
    olderThan: checkedFlag(
      textFlag(
        'Conversations of which nothing was stored for so long: 90d, 12w, or since a date',
        'TIME',
      ),
      parseTimeAgo,
    ),
    conversation: repeatedTextFlag('This conversation, by the beginning of its id', 'ID'),
    outputs: toggle('Only outputs of tools and pictures'),
    dryRun: toggle('Remove nothing and say what it would free'),
  },
  async run(
    { project, output, print },
    { olderThan: before, conversation: conversations, outputs, dryRun },
  ) {
    const history = await project.history()
    const pruned = await history.prune(defined({ before, conversations, outputs, dryRun }))
    print(pruned, () => describePruned(pruned, output))
  },
})

function describePruned(
  { isDryRun, conversations, blobs, young, busy, left }: Pruned,
  output: Output,
): string {
  const freed = conversations.reduce((sum, { bytes }) => sum + bytes, 0) + blobs.bytes
  const freedParts = [
    ...(conversations.length === 0 ? [] : [plural(conversations.length, 'conversation')]),
    ...(blobs.count === 0 ? [] : [`${blobs.count} of the large outputs and pictures`]),
  ]
  const headline =
    freedParts.length === 0
      ? 'Nothing to remove.'
      : `${isDryRun ? 'Would free' : 'Freed'} ${formatSize(freed)}: ${freedParts.join(', ')}.`
  return [
    output.bold(headline),
    ...conversations.map(({ id, bytes }) => `   ${formatSize(bytes).padStart(7)}  ${id}`),
    ...busy.map((id) => `   ${id} is being written to and stays; try again`),
    ...(young === 0
      ? []
      : [`   ${young} of the large outputs and pictures kept, written within the last 10 minutes`]),
    `${isDryRun ? 'It leaves' : 'Left'}: ${plural(left.conversations, 'conversation')}, ${formatSize(left.bytes)}; ${formatSize(left.blobBytes)} of large outputs and pictures.`,
  ].join('\n')
}

export const history = defineCommandGroup({
  brief: 'What was said: list conversations, read one, give its messages out, make room',
  about:
    'Without a subcommand as show: lists the conversations of the session here or of the one named; prints what was said in the\nconversation named. stint history show --help has the flags.',
  routes: { show, prune },
  default: 'show',
})
