import { buildCommand } from '@stricli/core'
import type { SessionFilter } from '../../index/queries.ts'
import type { SessionRow } from '../../index/rows.ts'
import { shortId } from '../../journal/ids.ts'
import type { SessionStatus } from '../../session/state.ts'
import { shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import type { Context } from '../context.ts'
import { Misuse } from '../errors.ts'
import { json, list as listFlag, number, text } from '../flags.ts'
import type { Output } from '../output.ts'
import { withProject } from '../with-project.ts'

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
      task: text('Only those linked to this task', 'ID'),
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
    const filter = filterFrom(flags)
    await withProject(this, flags, async (project, output) => {
      const task = flags.task === undefined ? undefined : await taskId(project, flags.task)
      printList(await project.list({ ...filter, ...(task === undefined ? {} : { task }) }), flags.json, output)
    })
  },
})

/** A task may be named by its short name; a session knows it by its id. */
async function taskId(project: { tasks: { show(name: string): Promise<{ id: string }> } }, name: string): Promise<string> {
  try {
    return (await project.tasks.show(name)).id
  } catch {
    // Linked by its name alone, because it is in no backlog here.
    return name
  }
}

function filterFrom(flags: Flags): SessionFilter {
  const unknown = flags.status?.find((status) => !STATUSES.includes(status as SessionStatus))
  if (unknown !== undefined) throw new Misuse(`there is no status "${unknown}"`, `there are ${STATUSES.join(', ')}`)
  const sort = SORTS.find((order) => order === flags.sort)
  if (flags.sort !== undefined && sort === undefined)
    throw new Misuse(`"${flags.sort}" is no order`, `there are ${SORTS.join(', ')}`)
  return {
    ...(flags.status === undefined || flags.status.length === 0
      ? {}
      : { status: flags.status as readonly SessionStatus[] as SessionStatus[] }),
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.text === undefined ? {} : { text: flags.text }),
    ...(flags.since === undefined ? {} : { since: time(flags.since) }),
    ...(flags.until === undefined ? {} : { until: time(flags.until) }),
    ...(sort === undefined ? {} : { sort }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    ...(flags.offset === undefined ? {} : { offset: flags.offset }),
  }
}

/** A date as a person types it, as the time it stands for. */
export function time(input: string): string {
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed)) throw new Misuse(`"${input}" is not a date`, 'write it like 2025-01-15 or 2025-01-15T10:30Z')
  return new Date(parsed).toISOString()
}

/** Prints rows as they come, so that a hundred thousand need no more memory than ten. */
export function printList(rows: Iterable<SessionRow>, isJson: boolean | undefined, output: Output): void {
  let printed = 0
  if (isJson === true) output.line('[')
  for (const row of rows) {
    if (isJson === true) output.line(`${printed === 0 ? '' : ','}${JSON.stringify(row)}`)
    else {
      if (printed === 0) output.line(output.dim(columns('ID', 'NAME', 'STATUS', 'PROGRESS', 'UPDATED', 'BRANCH', 'OBJECTIVE')))
      const steps = `${row.stepsDone}/${row.stepsTotal}`
      const goal = shorten(row.goal.split('\n').join(' '), 50)
      output.line(columns(shortId(row.id), row.name, row.status, steps, minute(row.updatedAt), row.branch ?? '', goal))
    }
    printed += 1
  }
  if (isJson === true) output.line(']')
  else if (printed === 0) output.line('No sessions.')
}

function columns(...[id = '', name = '', status = '', steps = '', updated = '', branch = '', goal = '']: string[]): string {
  return `${id.padEnd(6)}  ${name.padEnd(24)}  ${status.padEnd(9)}  ${steps.padEnd(8)}  ${updated.padEnd(16)}  ${branch.padEnd(20)}  ${goal}`.trimEnd()
}
