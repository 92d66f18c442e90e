import type { SessionFilter, SessionStatus } from '../../../library.ts'
import { StintError } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, list as listFlag, moment, number, taskName, text } from '../../context/flags.ts'
import { printList } from '../../print/session.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly status?: readonly string[]
  readonly branch?: string
  readonly task?: string
  readonly name?: string
  readonly text?: string
  readonly since?: string
  readonly until?: string
  readonly sort?: string
  readonly limit?: number
  readonly offset?: number
  readonly json?: boolean
}

const STATUSES: readonly SessionStatus[] = ['active', 'paused', 'completed', 'abandoned']
const SORTS = ['updated', 'created', 'name'] as const

export const list = buildCommand<Flags, [], Context>({
  docs: {
    brief: 'List sessions',
    customUsage: [
      { input: '', brief: 'all, the latest first' },
      { input: '--status active,paused', brief: 'those that are open' },
      { input: '--branch main --since 2025-01-01 --limit 20', brief: 'by branch and time' },
      { input: '--task fix-sweep-bug', brief: 'those linked to a task' },
    ],
  },
  parameters: {
    flags: {
      status: listFlag('Only these: active, paused, completed, abandoned', 'STATUS'),
      branch: text('Only those on this branch', 'BRANCH'),
      task: taskName('Only those linked to this task'),
      name: text('Only those whose name holds this', 'PART'),
      text: text('Only those that hold these words'),
      since: text('Only those worked on since', 'DATE'),
      until: text('Only those worked on until', 'DATE'),
      sort: text('By updated, created or name', 'ORDER'),
      limit: number('At most this many'),
      offset: number('Leave out this many at first'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const filter = filterFrom(flags)
      const task = flags.task === undefined ? undefined : await taskId(project, flags.task)
      printList(await project.list({ ...filter, ...defined({ task }) }), flags.json, output)
    })
  },
})

/** A task may be named by its short name; a session knows it by its id. */
async function taskId(
  project: { tasks: { show(name: string): Promise<{ id: string }> } },
  name: string,
): Promise<string> {
  try {
    return (await project.tasks.show(name)).id
  } catch (error) {
    // Linked by its name alone, because it is in no backlog here.
    if (error instanceof StintError && error.code === 'TASK_NOT_FOUND') return name
    throw error
  }
}

function filterFrom(flags: Flags): SessionFilter {
  const unknown = flags.status?.find((status) => !STATUSES.includes(status as SessionStatus))
  if (unknown !== undefined)
    throw new Misuse(`there is no status "${unknown}"`, `there are ${STATUSES.join(', ')}`)
  const sort = SORTS.find((order) => order === flags.sort)
  if (flags.sort !== undefined && sort === undefined)
    throw new Misuse(`"${flags.sort}" is no order`, `there are ${SORTS.join(', ')}`)
  return {
    ...defined({
      branch: flags.branch,
      name: flags.name,
      text: flags.text,
      sort,
      limit: flags.limit,
      offset: flags.offset,
    }),
    ...defined({ since: moment(flags.since), until: moment(flags.until) }),
    ...(flags.status === undefined || flags.status.length === 0
      ? {}
      : { status: flags.status as SessionStatus[] }),
  }
}
