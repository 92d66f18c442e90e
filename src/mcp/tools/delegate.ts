import type { DelegateDetail, DelegateRow } from '../../library.ts'
import { clipText, latestWithin } from './clip-output.ts'
import { type McpToolResult, badArguments, stringSchema, defineTool } from './tool.ts'

/** Below the clients' own timeout, which is a minute for some. */
const DEFAULT_WAIT_SECONDS = 45
const MAX_WAIT_SECONDS = 3600
const LIST_TOKENS = 3000
const MAX_REPORT_LENGTH = 12_000

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
    names: { type: 'array', items: stringSchema },
    seconds: { type: 'integer' },
  },
  required: ['action'],
  async run({ project: { delegates }, signal }, { action, names, seconds, what = '', ...request }) {
    if (action === 'list') return listResult(await delegates.list())
    if (action === 'start') {
      if (names !== undefined || seconds !== undefined)
        throw badArguments('names and seconds do not go with start', 'they go with show and wait')
      if (what.trim() === '' && request.task === undefined)
        throw badArguments('start needs what, or task', 'what: "What is to be done"')
      const row = await delegates.start({ what, ...request })
      return {
        value: { delegate: shownFields(row) },
        text: `${delegateLine(row)}\nwait tells when it is done.`,
      }
    }
    if (action === 'show') {
      const [name, ...others] = names ?? []
      if (name === undefined || others.length > 0)
        throw badArguments('show needs one of names', 'names: ["NAME"]; list shows them')
      return detailResult(await delegates.show(name))
    }
    // Until none is active, the time is over, or the client cancels the call.
    const timeout = AbortSignal.timeout(
      Math.min(seconds ?? DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS) * 1000,
    )
    const isStopped = AbortSignal.any([signal, timeout])
    const rows = await delegates.wait([...(names ?? [])], { isStopped })
    const active = rows
      .filter(({ status }) => status === 'running' || status === 'merging')
      .map(({ name }) => name)
    const result = listResult(rows)
    const summaryLine =
      active.length === 0 ? 'None is at work.' : `Still at work: ${active.join(', ')}; wait again.`
    return {
      value: { ...result.value, atWork: active },
      text: rows.length === 0 ? 'No delegate is at work.' : `${result.text}\n${summaryLine}`,
    }
  },
})

function detailResult(detail: DelegateDetail): McpToolResult {
  const { commitList, stat, attempts, reportText, logPath, model, summary = '' } = detail
  return {
    value: {
      delegate: shownFields(detail),
      model,
      commits: commitList
        .slice(-20)
        .map(({ commit, subject }) => `${commit.slice(0, 7)} ${subject}`),
      stat: clipText(stat, MAX_REPORT_LENGTH),
      attempts: attempts
        .slice(-5)
        .map(({ number, outcome, reason, seconds }) => ({ number, outcome, reason, seconds })),
      report: reportText && clipText(reportText, MAX_REPORT_LENGTH),
      log: logPath,
    },
    text: [delegateLine(detail), summary, stat, reportText ?? '']
      .filter((part) => part !== '')
      .join('\n'),
  }
}

function listResult(rows: readonly DelegateRow[]): McpToolResult {
  const { latest, leftOut } = latestWithin(rows.map(shownFields), LIST_TOKENS)
  const lines = rows.slice(leftOut).map(delegateLine)
  const earlier = leftOut === 0 ? [] : [`… ${leftOut} earlier`]
  return {
    value: { delegates: latest, earlier: leftOut || undefined },
    text: rows.length === 0 ? 'No delegates.' : [...earlier, ...lines].join('\n'),
  }
}

const ROW_FIELDS =
  'name status what as task group branch seconds commits summary because next report'.split(
    ' ',
  ) as (keyof DelegateRow)[]

function shownFields(row: DelegateRow) {
  const short = { ...row, what: clipText(row.what, 500), seconds: Math.round(row.seconds) }
  return Object.fromEntries(ROW_FIELDS.map((name) => [name, short[name]]))
}

function delegateLine({ name, status, because, next }: DelegateRow): string {
  return [`${name}: ${status}`, because, next && `next: ${next}`]
    .filter((part) => part !== undefined)
    .join('; ')
}
