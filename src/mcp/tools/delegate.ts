import type { DelegateRequest, DelegateRow } from '../../library.ts'
import { clip, latestWithin } from './bounds.ts'
import { badArguments } from './schema.ts'
import type { Answer, Call, Tool } from './tool.ts'

/** Below the time that clients give a call by themselves, which is a minute for some. */
const USUAL_WAIT = 45
const MOST_WAIT = 3600
const LIST_TOKENS = 3000
const LONGEST_REPORT = 12_000

interface Given {
  readonly action: 'start' | 'list' | 'show' | 'wait'
  readonly what?: string
  readonly names?: readonly string[]
  readonly seconds?: number
  readonly as?: string
  readonly task?: string
  readonly verify?: string
}

const string = { type: 'string' } as const

export const delegate: Tool = {
  name: 'delegate',
  description:
    'Agents in the background, each on a branch of its own. show and wait take names, wait also seconds.',
  effect: 'spends',
  inputSchema: {
    type: 'object',
    properties: {
      action: { ...string, enum: ['start', 'list', 'show', 'wait'] },
      what: { ...string, description: 'the order' },
      as: { ...string, description: 'tests, docs, review, research …' },
      task: string,
      verify: string,
      names: { type: 'array', items: string },
      seconds: { type: 'integer' },
    },
    required: ['action'],
  },
  async run(call, args) {
    const given = args as unknown as Given
    return { start, list, show, wait }[given.action](call, given)
  },
}

async function start({ project }: Call, given: Given): Promise<Answer> {
  const { action: _action, names, seconds, what = '', ...request } = given
  if (names !== undefined || seconds !== undefined)
    throw badArguments('names and seconds do not go with start', 'they go with show and wait')
  if (what.trim() === '' && request.task === undefined)
    throw badArguments('start needs what, or task', 'what: "What is to be done"')
  const row = await project.delegates.start({ what, ...request } satisfies DelegateRequest)
  return { value: { delegate: rowOf(row) }, text: `${lineOf(row)}\nwait tells when it is done.` }
}

async function list({ project }: Call): Promise<Answer> {
  return told(await project.delegates.list())
}

async function show({ project }: Call, { names = [] }: Given): Promise<Answer> {
  const [name, ...others] = names
  if (name === undefined || others.length > 0)
    throw badArguments('show needs one of names', 'names: ["NAME"]; list shows them')
  const detail = await project.delegates.show(name)
  const { commitList, stat, attempts, reportText, logPath, model } = detail
  return {
    value: {
      delegate: rowOf(detail),
      model,
      commits: commitList
        .slice(-20)
        .map(({ commit, subject }) => `${commit.slice(0, 7)} ${subject}`),
      stat: clip(stat, LONGEST_REPORT),
      attempts: attempts
        .slice(-5)
        .map(({ number, outcome, reason, seconds }) => ({ number, outcome, reason, seconds })),
      report: reportText === undefined ? undefined : clip(reportText, LONGEST_REPORT),
      log: logPath,
    },
    text: [lineOf(detail), detail.summary ?? '', stat, reportText ?? '']
      .filter((part) => part !== '')
      .join('\n'),
  }
}

/** Until none is at work, the time is over, or nobody waits for the answer any more. */
async function wait(
  { project, signal }: Call,
  { names = [], seconds = USUAL_WAIT }: Given,
): Promise<Answer> {
  const isStopped = AbortSignal.any([
    signal,
    AbortSignal.timeout(Math.min(seconds, MOST_WAIT) * 1000),
  ])
  const rows = await project.delegates.wait([...names], { isStopped })
  const atWork = rows
    .filter(({ status }) => status === 'running' || status === 'merging')
    .map(({ name }) => name)
  const answer = told(rows)
  const words =
    atWork.length === 0 ? 'None is at work.' : `Still at work: ${atWork.join(', ')}; wait again.`
  return {
    value: { ...answer.value, atWork },
    text: rows.length === 0 ? 'No delegate is at work.' : `${answer.text}\n${words}`,
  }
}

function told(rows: readonly DelegateRow[]): Answer {
  const { kept, leftOut } = latestWithin(rows.map(rowOf), LIST_TOKENS)
  const lines = rows.slice(leftOut).map(lineOf)
  return {
    value: { delegates: kept, earlier: leftOut === 0 ? undefined : leftOut },
    text:
      rows.length === 0
        ? 'No delegates.'
        : [...(leftOut === 0 ? [] : [`… ${leftOut} earlier`]), ...lines].join('\n'),
  }
}

function rowOf({
  name,
  status,
  what,
  as,
  task,
  group,
  branch,
  seconds,
  commits,
  summary,
  because,
  next,
  report,
}: DelegateRow) {
  return {
    name,
    status,
    what: clip(what, 500),
    as,
    task,
    group,
    branch,
    seconds: Math.round(seconds),
    commits,
    summary,
    because,
    next,
    report,
  }
}

function lineOf({ name, status, because, next }: DelegateRow): string {
  return [
    `${name}: ${status}`,
    ...(because === undefined ? [] : [because]),
    ...(next === undefined ? [] : [`next: ${next}`]),
  ].join('; ')
}
