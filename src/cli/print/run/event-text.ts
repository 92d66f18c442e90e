// Events of a run as one-line texts without a time, for the plain log and the live view.
import { budgetLine, measured } from '../../../core.ts'
import type {
  EndOfRun,
  Gauge,
  PermissionRequest,
  RunEvent,
  RunEventKind,
  RunReport,
  Spend,
  TaskName,
} from '../../../library.ts'
import { shortId } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { printableJson } from '../../../text/printable.ts'
import {
  reasonSuffix,
  dollarsAndCents,
  localTime,
  commitPrefix,
  firstFew,
  shortLine,
  plural,
  durationText,
  shortTokens,
} from '../terminal/text.ts'

/** Shortens paths in the run's worktree. */
export function relativeToWorktree(event: RunEvent, worktree: string | undefined): RunEvent {
  if (event.kind !== 'tool' || worktree === undefined || worktree === '') return event
  const root = `${worktree}/`
  const { path, command } = event.data
  const shortened = defined({
    path: path?.startsWith(root) === true ? path.slice(root.length) : path,
    command: command?.replaceAll(root, ''),
  })
  return { ...event, data: { ...event.data, ...shortened } }
}

type TextOfKind = {
  readonly [K in RunEventKind]?: (data: RunEvent<K>['data'], task: string) => string | undefined
}

/** Events without an entry are not printed. */
const TEXT_OF_KIND: TextOfKind = {
  'run.planned': ({ run, harness, model, branch, tasks, isResumed, parallel = 1 }) => {
    const program = programText([harness, model])
    const branchText = branch === undefined ? '' : ` on ${shortLine(branch, 60)}`
    const parallelText = parallel > 1 ? `, ${parallel} at once` : ''
    return `run ${runName(run)} ${isResumed ? 'goes on' : 'started'}: ${plural(tasks.length, 'task')} with ${program}${branchText}${parallelText}`
  },
  message: ({ text }) => shortLine(text),
  'session.opened': ({ number, name: session, because: why, planned = [] }) => {
    const taskList = planned.length === 0 ? '' : ` (${firstFew(planned.map(taskLabel), 5)})`
    return `session ${number}, ${shortLine(session, 40)}: ${shortLine(why)}${taskList}`
  },
  'conversation.opened': ({ number, handoff }) =>
    `conversation ${number} opened${handoff === undefined ? '' : ', with a handoff'}`,
  'attempt.started': ({ number, place, task: { title } }, task) =>
    `▶ ${task}: ${number === 1 ? shortLine(title) : `attempt ${number}, ${place}`}`,
  'turn.started': ({ why }, task) => {
    if (why === 'task') return undefined
    return `${task}: ${why === 'retry' ? 'told what failed' : 'ended its turn without a word; asked how it stands'}`
  },
  text: ({ text }) => (shortLine(text) === '' ? undefined : `“${shortLine(text)}”`),
  tool: (tool) =>
    tool.status === 'completed'
      ? undefined
      : `${toolText(tool)}${tool.status === 'failed' ? ' failed' : ''}`,
  stage: ({ stage, gauge }) =>
    `past ${stage === 'smart-zone' ? 'the smart zone' : `${stageName(stage)} of the way`}: ${gaugeText(gauge)}`,
  'context.compacted': ({ tokensBefore }, task) =>
    `compacted in the middle of ${task}${tokensBefore === undefined ? '' : `, at ${shortTokens(tokensBefore)} tokens`}`,
  'verify.started': ({ command }, task) => `${task}: verifying with ${shortLine(command, 80)}`,
  'verify.ended': ({ passed, seconds, summary }, task) =>
    `${task}: ${passed ? 'verified' : 'verify FAILED'} after ${durationText(seconds)}${passed ? '' : reasonSuffix(summary)}`,
  'attempt.ended': (ended, task) => {
    const { outcome, number = '', reason = '', commit, summary, seconds, spend, next } = ended
    if (outcome === 'blocked') return `⊘ ${task} blocked: ${shortLine(blockedReason(ended))}`
    if (outcome === 'failed')
      return `${task}: attempt ${number} failed: ${shortLine(reason)}${next === undefined ? '' : `; ${NEXT_ATTEMPT_TEXTS[next]}`}`
    if (outcome === 'interrupted') return undefined
    const durationSuffix = seconds === undefined ? '' : ` in ${durationText(seconds)}`
    const cost =
      spend === undefined ? '' : `, ${shortTokens(allTokens(spend))} tokens, ${costText(spend)}`
    return `✓ ${task} done${durationSuffix}${cost}${commitSuffix(commit)}${reasonSuffix(summary)}`
  },
  'task.parked': ({ reason, kept }, task) =>
    `✗ ${task} parked: ${shortLine(reason)}${kept === undefined ? '' : ` (kept: ${shortLine(kept)})`}`,
  'breaker.tripped': ({ which, detail }, task) =>
    `${task}: stopped, ${STOP_REASON_TEXTS[which]}: ${shortLine(detail)}`,
  'limit.reached': (limit) => `usage limit: ${limitParts(limit).join('; ')}`,
  'rotation.decided': ({ stay, rule, because: why }, task) =>
    rule === 'first'
      ? undefined
      : `${stay ? 'staying' : 'a fresh conversation'} for ${task}: ${shortLine(why)}`,
  'session.closed': ({ name: session = '', done = 0, because: why }) =>
    `session ${shortLine(session, 40)} closed, ${done} done: ${shortLine(why)}`,
  'delegate.started': ({ isAgain, branch }, task) =>
    `${task}: ${isAgain ? 'begun again' : `with a delegate of its own, on ${shortLine(branch, 60)}`}`,
  'delegate.ready': ({ summary }, task) => `${task}: ready to be merged${reasonSuffix(summary)}`,
  'delegate.merged': ({ target, commit }, task) =>
    `${task}: merged into ${shortLine(target, 60)}${commitSuffix(commit)}`,
  'delegate.conflicted': ({ because: why, isSentBack }, task) =>
    `${task}: not merged${reasonSuffix(why)}${isSentBack ? '; given back to be mended' : ''}`,
  'delegate.parked': ({ because: why, next }, task) =>
    `${task}: its work is left on its branch${reasonSuffix(why)}${next === undefined ? '' : `; ${shortLine(next)}`}`,
  stopping: ({ how }) => stoppingText(how, undefined),
  'run.report': (report) =>
    `run ended: ${END_TEXTS[report.how]}; ${taskCountsText(report)}, ${durationText(report.seconds)}, ${costText(report.spend)}`,
}

const KINDS_WITHOUT_TASK: ReadonlySet<RunEventKind> = new Set([
  'message',
  'session.opened',
  'session.closed',
  'conversation.opened',
  'text',
  'tool',
  'stage',
  'limit.reached',
])

export function eventText(event: RunEvent): string | undefined {
  const task = event.task === undefined ? 'a task' : taskLabel(event.task)
  // TypeScript does not connect the kind with its data type through the lookup.
  const describe = TEXT_OF_KIND[event.kind] as
    | ((data: RunEvent['data'], task: string) => string | undefined)
    | undefined
  const text = describe?.(event.data, task)
  return text === undefined ? undefined : withDelegateName(event, text)
}

/** Adds the delegate's name in a parallel run, unless the text names the task anyway. */
export function withDelegateName({ delegate, kind }: RunEvent, text: string): string {
  return delegate === undefined || !KINDS_WITHOUT_TASK.has(kind)
    ? text
    : `[${shortLine(delegate, 40)}] ${text}`
}

/** The outcome of a task, if the event decides it. */
export function taskOutcome({ kind, data }: RunEvent): 'done' | 'blocked' | 'parked' | undefined {
  if (kind === 'task.parked') return 'parked'
  if (kind !== 'attempt.ended') return undefined
  return data.outcome === 'done' || data.outcome === 'blocked' ? data.outcome : undefined
}

export function blockedReason({ reason = '', kept }: RunEvent<'attempt.ended'>['data']): string {
  return kept === undefined ? reason : `${reason} (its work is kept as ${kept})`
}

/** `claude, claude-sonnet-4-5` */
export function programText(parts: readonly (string | undefined)[]): string {
  return parts.flatMap((part) => (part === undefined ? [] : [shortLine(part, 60)])).join(', ')
}

function commitSuffix(commit: string | undefined) {
  return commit === undefined ? '' : `, ${commitPrefix(commit)}`
}

function stageName(stage: number) {
  return stage <= 100 ? `${stage}%` : `${shortTokens(stage)} tokens`
}

export function runName(run: string): string {
  return shortLine(shortId(run))
}

const NEXT_ATTEMPT_TEXTS = {
  'live conversation': 'trying again',
  'same conversation again': 'trying again in the same conversation',
  'fresh conversation': 'trying again in a fresh conversation',
  parked: 'parked',
} as const

const STOP_REASON_TEXTS = {
  silence: 'it said nothing for too long',
  'same error': 'the same error again and again',
  'no change': 'nothing changes',
  time: 'out of time',
} as const

export const END_TEXTS: Readonly<Record<EndOfRun | 'running', string>> = {
  running: 'still running',
  finished: 'finished',
  'nothing to do': 'there was nothing to do',
  waiting: 'what is left waits for something that failed or is blocked',
  'max tasks': 'as many tasks as it was to do',
  'max sessions': 'as many sessions as it was to take',
  'budget tokens': 'the budget of tokens is used up',
  'budget usd': 'the budget of dollars is used up',
  'max minutes': 'its time is over',
  'task failed': 'a task failed, and it was to stop there',
  'usage limit': 'the usage limit of the account is reached',
  interrupted: 'interrupted',
  'harness failed': 'the agent program could not go on',
}

export function stoppingText(how: 'after task' | 'now', task: string | undefined): string {
  if (how === 'now') return 'stopping now'
  return `${task === undefined ? 'stopping' : `finishing ${task}`}; Ctrl-C again stops now`
}

/** `$ npm test`, `Edit src/a.ts`, `WebSearch`. */
export function toolText(tool: Pick<RunEvent<'tool'>['data'], 'name' | 'command' | 'path'>) {
  if (tool.command !== undefined) return `$ ${shortLine(tool.command)}`
  return tool.path === undefined
    ? shortLine(tool.name, 60)
    : `${shortLine(tool.name, 40)} ${shortLine(tool.path)}`
}

export function limitParts({
  message,
  resetsAt,
  isWaiting = false,
}: RunEvent<'limit.reached'>['data']): readonly string[] {
  const resetTime = resetsAt === undefined ? '' : localTime(resetsAt).slice(0, 5)
  const waitText = resetTime === '' ? 'waiting for it to reset' : `waiting until ${resetTime}`
  return [
    ...(isWaiting ? [waitText] : resetTime === '' ? [] : [`resets at ${resetTime}`]),
    shortLine(message),
  ]
}

/** `52% · 87k/167k` */
export function gaugeText({ context, point }: Gauge): string {
  const asMeasured = (value: number) => measured(value, 'run', '')
  const tokensNow = { tokens: asMeasured(context) }
  return budgetLine(
    point === undefined ? tokensNow : { ...tokensNow, point: asMeasured(point) },
  ).slice(4)
}

/** `31k in · 1.2M cached · 42k out · $1.42`, as parts. */
export function spendParts(spend: Spend): readonly string[] {
  return [
    `${shortTokens(spend.input + spend.cacheWritten)} in`,
    `${shortTokens(spend.cacheRead)} cached`,
    `${shortTokens(spend.output)} out`,
    costText(spend),
  ]
}

export function costText({ usd }: Spend): string {
  return usd === undefined ? 'cost unknown' : dollarsAndCents(usd)
}

export function allTokens({ input, cacheRead, cacheWritten, output }: Spend): number {
  return input + cacheRead + cacheWritten + output
}

/** `11 done, 1 parked of 12` */
export function taskCountsText({ sessions, neverBegun }: RunReport): string {
  const tasks = sessions.flatMap((session) => session.tasks)
  const neverStarted = neverBegun?.count ?? 0
  const parts = (['done', 'parked', 'blocked', 'open'] as const).flatMap((outcome) => {
    const reported = tasks.filter((task) => task.outcome === outcome).length
    const count = reported + (outcome === 'open' ? neverStarted : 0)
    return count > 0 || outcome === 'done' ? [`${count} ${outcome}`] : []
  })
  return `${parts.join(', ')} of ${tasks.length + neverStarted}`
}

export function taskLabel(task: TaskName): string {
  return shortLine(task.name, 60)
}

/** Longer ones are shortened, and say so. */
const MAX_SUBJECT = 2000

/** What is agreed to is shown whole: escaped where cleaning would take a part of it away. */
function shownSubject(subject: string) {
  const line = shortLine(subject, MAX_SUBJECT)
  return line === subject || subject.length > MAX_SUBJECT ? line : printableJson(subject)
}

export function permissionQuestion({ tool, title, command, path }: PermissionRequest): string {
  const subject = command ?? path ?? (title === '' ? undefined : title)
  const subjectText = subject === undefined ? '' : `: ${shownSubject(subject)}`
  return `May the agent use ${shortLine(tool, 60)}${subjectText}?`
}
