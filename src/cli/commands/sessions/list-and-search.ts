import type { MessageHit, SearchHit, SessionStatus } from '../../../library.ts'
import type { Project } from '../../../core.ts'
import { SEARCH_NAMES, StintError, shortId } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { printableJson } from '../../../text/printable.ts'
import { formatToMinute } from '../../../text/times.ts'
import { UsageError, type Output } from '../../context/context.ts'
import {
  oneOfIgnoringCase,
  argument,
  checkedFlag,
  dateFlag,
  listFlag,
  numberFlag,
  enumFlag,
  sessionFlag,
  taskNameFlag,
  textFlag,
  toggle,
} from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { markOrigin } from '../../print/origin.ts'
import { printSessions } from '../../print/session.ts'

const STATUSES: readonly SessionStatus[] = ['active', 'paused', 'completed', 'abandoned']
const SORTS = ['updated', 'created', 'name'] as const

export const list = defineProjectCommand({
  brief: 'List sessions',
  usage: [
    ['', 'all, the latest first'],
    ['--status active,paused', 'those that are open'],
    ['--branch main --since 2025-01-01 --limit 20', 'by branch and time'],
    ['--task fix-sweep-bug', 'those linked to a task'],
  ],
  flags: {
    status: checkedFlag(
      listFlag('Only these: active, paused, completed, abandoned', 'STATUS'),
      oneOfIgnoringCase(STATUSES, (value) => `there is no status "${value}"`),
    ),
    branch: textFlag('Only those on this branch', 'BRANCH'),
    task: taskNameFlag('Only those linked to this task'),
    name: textFlag('Only those whose name holds this', 'PART'),
    text: textFlag('Only those that hold these words'),
    since: dateFlag('Only those worked on since'),
    until: dateFlag('Only those worked on until'),
    sort: checkedFlag(
      textFlag('By updated, created or name', 'ORDER'),
      oneOfIgnoringCase(SORTS, (value) => `"${value}" is no order`),
    ),
    limit: numberFlag('At most this many'),
    offset: numberFlag('Leave out this many at first'),
  },
  async run({ project, output, json }, { status, task: name, ...filter }) {
    const task = name && (await taskId(project, name))
    const rows = await project.list({
      ...filter,
      ...defined({ task, status: status?.length === 0 ? undefined : status }),
    })
    printSessions(rows, json, output, project.trust.refuses)
  },
})

/** Users may give a task's short name, but sessions store its id. */
async function taskId({ tasks }: Project, name: string): Promise<string> {
  try {
    return (await tasks.show(name)).id
  } catch (error) {
    // A session may be linked to a task that is in no backlog here.
    if (error instanceof StintError && error.code === 'TASK_NOT_FOUND') return name
    throw error
  }
}

const DEFAULT_LIMIT = 20

function parseKind(name: string): readonly string[] {
  const kinds = SEARCH_NAMES.get(name.toLowerCase()) ?? (name.includes('.') ? [name] : undefined)
  if (kinds !== undefined) return kinds
  throw new UsageError(
    `there is no kind "${name}"`,
    `there are ${[...SEARCH_NAMES.keys()].join(', ')}`,
  )
}

export const search = defineProjectCommand({
  brief: 'Search everything recorded and everything said',
  about:
    'Full text over all entries and over the stored conversations, the most telling of both first. "Exact phrases" in quotes; a* for beginnings. Of a long tool output only both ends are found.',
  usage: [
    ['lock ordering', 'both words'],
    ['mutex --kind decision', 'only decisions'],
    ['mutex --in said', 'only what agents and people said'],
    ['timeout --all-projects --limit 50', 'on this whole machine'],
  ],
  args: argument('Words to look for', 'WORD'),
  flags: {
    in: enumFlag(
      ['journal', 'said', 'all'],
      'Where: in the journals, in what was said, or in both (all)',
    ),
    kind: checkedFlag(
      textFlag('Only entries of this kind: decision, discovery, progress, …', 'KIND'),
      parseKind,
    ),
    session: sessionFlag,
    since: dateFlag('Only what is from then on'),
    until: dateFlag('Only what is until then'),
    limit: numberFlag(`At most this many (${DEFAULT_LIMIT})`),
    offset: numberFlag('Leave out this many at first'),
    allProjects: toggle('Every project that Stint was used in on this machine'),
  },
  async run({ project, output, pick, json }, { session: sessionName, ...flags }, ...words) {
    const query = words.join(' ').trim()
    if (query === '') throw new UsageError('say what to look for', 'stint search lock ordering')
    const marks = output.bold('|').split('|') as [string, string]
    const hits = project.search({
      text: query,
      limit: DEFAULT_LIMIT,
      ...flags,
      ...(await pick(sessionName)),
      ...(!json && marks[0] !== '' && { marks }),
    })
    let count = 0
    if (json) output.line('[')
    for await (const hit of hits) {
      if (json) output.line(`${count === 0 ? '' : ','}${printableJson(hit)}`)
      else {
        const projectPrefix = flags.allProjects ? `${hit.project}  ` : ''
        output.line(
          projectPrefix +
            (hit.where === 'said' ? messageLine(hit, output) : hitLine(hit, output)) +
            markOrigin(hit),
        )
        output.line(`   ${hit.snippet}`)
      }
      count += 1
    }
    if (json) output.line(']')
    else if (count === 0) output.line(`Nothing found for "${query}".`)
  },
})

function hitLine({ name, session: id, at, kind, entry }: SearchHit, output: Output): string {
  return `${name} ${output.dim(`(${shortId(id)})`)}  ${formatToMinute(at)}  ${kind}  ${shortId(entry)}`
}

function messageLine(
  { name, session: id, conversation, harness, role, at, item, isFromElsewhere }: MessageHit,
  output: Output,
): string {
  const sessionText =
    name === undefined || id === undefined
      ? 'no session'
      : `${name} ${output.dim(`(${shortId(id)})`)}`
  const timeText = at === undefined ? '' : `  ${formatToMinute(at)}`
  const speaker = isFromElsewhere === true ? 'a file of the repository' : SPEAKERS[role]
  return `${sessionText}${timeText}  said by ${speaker}  ${harness ?? 'conversation'} ${conversation} #${item}`
}

const SPEAKERS = { user: 'the user', assistant: 'the agent', system: 'the harness' } as const
