import type { DelegateDetail, DelegateRow } from '../../library.ts'
import { clipText, latestWithin } from './clip-output.ts'
import { type McpToolResult, badArguments, stringSchema, defineTool } from './tool.ts'

/** Below the time that clients give a call by themselves, which is a minute for some. */
const USUAL_WAIT = 45
const MOST_WAIT = 3600
const LIST_TOKENS = 3000
const LONGEST_REPORT = 12_000

export const delegateTool = defineTool({
  name: 'delegate',
  description:
    'Agents in the background, each on a branch of its own. show and wait take names, wait also seconds.',
  effect: 'spends',
  properties: {
    action: { ...stringSchema, enum: ['start', 'list', 'show', 'wait'] },
    what: { ...stringSchema, description: 'the order' },
    as: { ...stringSchema, description: 'tests, docs, review, research …' },
    task: stringSchema,
    verify: stringSchema,
    names: { type: 'array', items: stringSchema },
    seconds: { type: 'integer' },
  },
  required: ['action'],
  async run({ project: { delegates }, signal }, { action, names, seconds, what = '', ...request }) {
    if (action === 'list') return told(await delegates.list())
    if (action === 'start') {
      if (names !== undefined || seconds !== undefined)
        throw badArguments('names and seconds do not go with start', 'they go with show and wait')
      if (what.trim() === '' && request.task === undefined)
        throw badArguments('start needs what, or task', 'what: "What is to be done"')
      const row = await delegates.start({ what, ...request })
      return {
        value: { delegate: rowOf(row) },
        text: `${lineOf(row)}\nwait tells when it is done.`,
      }
    }
    if (action === 'show') {
      const [name, ...others] = names ?? []
      if (name === undefined || others.length > 0)
        throw badArguments('show needs one of names', 'names: ["NAME"]; list shows them')
      return detailed(await delegates.show(name))
    }
    // Until none is at work, the time is over, or nobody waits for the answer any more.
    const timeout = AbortSignal.timeout(Math.min(seconds ?? USUAL_WAIT, MOST_WAIT) * 1000)
    const isStopped = AbortSignal.any([signal, timeout])
    const rows = await delegates.wait([...(names ?? [])], { isStopped })
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
  },
})

function detailed(detail: DelegateDetail): McpToolResult {
  const { commitList, stat, attempts, reportText, logPath, model, summary = '' } = detail
  return {
    value: {
      delegate: rowOf(detail),
      model,
      commits: commitList
        .slice(-20)
        .map(({ commit, subject }) => `${commit.slice(0, 7)} ${subject}`),
      stat: clipText(stat, LONGEST_REPORT),
      attempts: attempts
        .slice(-5)
        .map(({ number, outcome, reason, seconds }) => ({ number, outcome, reason, seconds })),
      report: reportText && clipText(reportText, LONGEST_REPORT),
      log: logPath,
    },
    text: [lineOf(detail), summary, stat, reportText ?? '']
      .filter((part) => part !== '')
      .join('\n'),
  }
}

function told(rows: readonly DelegateRow[]): McpToolResult {
  const { kept, leftOut } = latestWithin(rows.map(rowOf), LIST_TOKENS)
  const lines = rows.slice(leftOut).map(lineOf)
  const earlier = leftOut === 0 ? [] : [`… ${leftOut} earlier`]
  return {
    value: { delegates: kept, earlier: leftOut || undefined },
    text: rows.length === 0 ? 'No delegates.' : [...earlier, ...lines].join('\n'),
  }
}

const ROW_FIELDS =
  'name status what as task group branch seconds commits summary because next report'.split(
    ' ',
  ) as (keyof DelegateRow)[]

function rowOf(row: DelegateRow) {
  const short = { ...row, what: clipText(row.what, 500), seconds: Math.round(row.seconds) }
  return Object.fromEntries(ROW_FIELDS.map((name) => [name, short[name]]))
}

function lineOf({ name, status, because, next }: DelegateRow): string {
  return [`${name}: ${status}`, because, next && `next: ${next}`]
    .filter((part) => part !== undefined)
    .join('; ')
}
