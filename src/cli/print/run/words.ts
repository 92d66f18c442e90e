// What an event of a run is in words, on one line and without its time. The log off a terminal and the last lines of the
// live view say the same.
import { line, plural } from '../terminal/text.ts'
import { budgetLine } from '../../../context/budget/banner.ts'
import { measured } from '../../../context/budget/figures.ts'
import { shortId } from '../../../journal/ids.ts'
import type { Breaker, Gauge, RunEvent } from '../../../run/events.ts'
import type { EndOfRun, RunReport, Spend, TaskName } from '../../../run/report.ts'
import { cents, clock, span, tokens } from '../terminal/amounts.ts'
import type { PermissionRequest } from '../../../harness/contract/drive.ts'

/** The same event with paths in the run's own worktree told from its root, as everybody knows them. */
export function nearby(event: RunEvent, worktree: string | undefined): RunEvent {
  if (event.type !== 'tool' || worktree === undefined || worktree === '') return event
  const root = `${worktree}/`
  const { path, command } = event
  return {
    ...event,
    ...(path === undefined ? {} : { path: path.startsWith(root) ? path.slice(root.length) : path }),
    ...(command === undefined ? {} : { command: command.replaceAll(root, '') }),
  }
}

/** Undefined for what is no news by itself: use, which comes many times a second, and tools that ended well. */
export function wordsOf(event: RunEvent): string | undefined {
  const words = ownWords(event)
  return words === undefined ? undefined : withName(event, words)
}

/** Of several who work at once, who it was, unless the task is named anyway. */
export function withName(event: RunEvent, words: string): string {
  const isNamed = 'task' in event && event.task !== undefined
  return event.delegate === undefined || isNamed ? words : `[${line(event.delegate, 40)}] ${words}`
}

function ownWords(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run.started':
      return started(event)
    case 'said':
      return line(event.text)
    case 'session.opened':
      return `session ${event.number}, ${line(event.name, 40)}: ${line(event.because)}${listed(event.planned)}`
    case 'conversation.opened':
      return conversationOpened(event)
    case 'task.started':
      return `▶ ${name(event.task)}: ${event.attempt === 1 ? line(event.task.title) : `attempt ${event.attempt}, ${event.place}`}`
    case 'turn.started':
      return TURNS[event.why] === '' ? undefined : `${name(event.task)}: ${TURNS[event.why]}`
    case 'text':
      return line(event.text) === '' ? undefined : `“${line(event.text)}”`
    case 'tool':
      return event.status === 'completed'
        ? undefined
        : `${toolWords(event)}${event.status === 'failed' ? ' failed' : ''}`
    case 'usage':
      return undefined
    case 'stage':
      return `${event.stage === 'smart-zone' ? 'past the smart zone' : `past ${stageName(event.stage)} of the way`}: ${gaugeWords(event.gauge)}`
    case 'compaction':
      return `compacted${event.task === undefined ? '' : ` in the middle of ${name(event.task)}`}${event.tokensBefore === undefined ? '' : `, at ${tokens(event.tokensBefore)} tokens`}`
    case 'verify.started':
      return `${name(event.task)}: verifying with ${line(event.command, 80)}`
    case 'verify.ended':
      return `${name(event.task)}: ${event.passed ? 'verified' : 'verify FAILED'} after ${span(event.seconds)}${event.passed ? '' : because(event.summary)}`
    case 'task.done':
      return `✓ ${name(event.task)} done in ${span(event.seconds)}, ${tokens(allTokens(event.spend))} tokens, ${costWords(event.spend)}${event.commit === undefined ? '' : `, ${commitName(event.commit)}`}${because(event.summary)}`
    case 'attempt.failed':
      return `${name(event.task)}: attempt ${event.attempt} failed: ${line(event.reason)}; ${THEN[event.next]}`
    case 'task.parked':
      return `✗ ${name(event.task)} parked: ${line(event.reason)}${event.kept === undefined ? '' : ` (kept: ${line(event.kept)})`}`
    case 'task.blocked':
      return `⊘ ${name(event.task)} blocked: ${line(event.reason)}`
    case 'breaker':
      return `${name(event.task)}: stopped, ${BREAKERS[event.which]}: ${line(event.detail)}`
    case 'limit':
      return limitWords(event)
    case 'rotation':
      return `${event.stay ? 'staying' : 'a fresh conversation'} for ${name(event.next)}: ${line(event.because)}`
    case 'session.closed':
      return `session ${line(event.name, 40)} closed, ${event.done} done: ${line(event.because)}`
    case 'delegate.started':
      return event.isAgain
        ? `${name(event.task)}: begun again`
        : `${name(event.task)}: with a delegate of its own, on ${line(event.branch, 60)}`
    case 'delegate.ready':
      return `${name(event.task)}: ready to be merged${because(event.summary)}`
    case 'delegate.merged':
      return `${name(event.task)}: merged into ${line(event.target, 60)}${event.commit === undefined ? '' : `, ${commitName(event.commit)}`}`
    case 'delegate.conflicted':
      return `${name(event.task)}: not merged${because(event.because)}${event.isSentBack ? '; given back to be mended' : ''}`
    case 'delegate.parked':
      return `${name(event.task)}: its work is left on its branch${because(event.because)}${event.next === undefined ? '' : `; ${line(event.next)}`}`
    case 'stopping':
      return stoppingWords(event.how, undefined)
    case 'run.ended':
      return `run ended: ${END_WORDS[event.how]}; ${countWords(event.report)}, ${span(event.report.seconds)}, ${costWords(event.report.spend)}`
  }
}

function started(event: Extract<RunEvent, { type: 'run.started' }>): string {
  const { run, harness, model, branch, tasks, isResumed, parallel = 1 } = event
  const program = [harness, ...(model === undefined ? [] : [model])]
    .map((part) => line(part, 60))
    .join(', ')
  return `run ${runName(run)} ${isResumed ? 'goes on' : 'started'}: ${plural(tasks.length, 'task')} with ${program}${branch === undefined ? '' : ` on ${line(branch, 60)}`}${parallel > 1 ? `, ${parallel} at once` : ''}`
}

function conversationOpened({
  conversation,
  number,
  handoff,
}: Extract<RunEvent, { type: 'conversation.opened' }>): string {
  const id = conversation === undefined ? '' : ` (${conversationName(conversation)})`
  return `conversation ${number}${id} opened${handoff === undefined ? '' : ', with a handoff'}`
}

/** As much of a harness's own id as tells it from the others. */
export function conversationName(id: string): string {
  return beginning(id, 8)
}

export function commitName(commit: string): string {
  return beginning(commit, 7)
}

export function runName(run: string): string {
  return line(shortId(run))
}

function beginning(id: string, count: number): string {
  return Array.from(line(id)).slice(0, count).join('')
}

const TURNS = {
  task: '',
  asked: 'ended its turn without a word; asked how it stands',
  retry: 'told what failed',
} as const

const THEN = {
  'live conversation': 'trying again',
  'same conversation again': 'trying again in the same conversation',
  'fresh conversation': 'trying again in a fresh conversation',
  parked: 'parked',
} as const

const BREAKERS: Readonly<Record<Breaker, string>> = {
  silence: 'it said nothing for too long',
  'same error': 'the same error again and again',
  'no change': 'nothing changes',
  time: 'out of time',
}

export const END_WORDS: Readonly<Record<EndOfRun | 'running', string>> = {
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

/** What a first Ctrl-C, and a second one, come to. */
export function stoppingWords(how: 'after task' | 'now', task: string | undefined): string {
  if (how === 'now') return 'stopping now'
  return `${task === undefined ? 'stopping' : `finishing ${task}`}; Ctrl-C again stops now`
}

/** `$ npm test`, `Edit src/a.ts`, `WebSearch`. */
export function toolWords({
  name: tool,
  command,
  path,
}: {
  name: string
  command?: string
  path?: string
}): string {
  if (command !== undefined) return `$ ${line(command)}`
  return path === undefined ? line(tool, 60) : `${line(tool, 40)} ${line(path)}`
}

interface Limited {
  readonly message: string
  readonly resetsAt?: string
  readonly isWaiting: boolean
}

function limitWords(limit: Limited): string {
  return `usage limit: ${limitParts(limit).join('; ')}`
}

export function limitParts({ message, resetsAt, isWaiting }: Limited): readonly string[] {
  const until = resetsAt === undefined ? '' : clock(resetsAt).slice(0, 5)
  const waits = until === '' ? 'waiting for it to reset' : `waiting until ${until}`
  return [...(isWaiting ? [waits] : until === '' ? [] : [`resets at ${until}`]), line(message)]
}

/** `52% · 87k/167k` */
export function gaugeWords({ context, point }: Gauge): string {
  const tokensNow = measured(context, 'run', '')
  return budgetLine(
    point === undefined
      ? { tokens: tokensNow }
      : { tokens: tokensNow, point: measured(point, 'run', '') },
  ).slice(4)
}

/** `31k in · 1.2M cached · 42k out · $1.42`, as parts. */
export function spendParts(spend: Spend): readonly string[] {
  return [
    `${tokens(spend.input + spend.cacheWritten)} in`,
    `${tokens(spend.cacheRead)} cached`,
    `${tokens(spend.output)} out`,
    costWords(spend),
  ]
}

export function costWords({ usd }: Spend): string {
  return usd === undefined ? 'cost unknown' : cents(usd)
}

export function allTokens({ input, cacheRead, cacheWritten, output }: Spend): number {
  return input + cacheRead + cacheWritten + output
}

/** `11 done, 1 parked of 12` */
export function countWords({
  sessions,
  neverBegun,
}: Pick<RunReport, 'sessions' | 'neverBegun'>): string {
  const tasks = sessions.flatMap((session) => session.tasks)
  const counted = (['done', 'parked', 'blocked', 'open'] as const).map((outcome) => {
    const left = outcome === 'open' ? (neverBegun?.count ?? 0) : 0
    return [tasks.filter((task) => task.outcome === outcome).length + left, outcome] as const
  })
  const parts = counted
    .filter(([count, outcome]) => count > 0 || outcome === 'done')
    .map(([count, outcome]) => `${count} ${outcome}`)
  return `${parts.join(', ')} of ${tasks.length + (neverBegun?.count ?? 0)}`
}

export function name(task: TaskName): string {
  return line(task.name, 60)
}

function stageName(stage: number): string {
  return stage <= 100 ? `${stage}%` : `${tokens(stage)} tokens`
}

function listed(tasks: readonly TaskName[]): string {
  if (tasks.length === 0) return ''
  const more = tasks.length > 5 ? ` and ${tasks.length - 5} more` : ''
  return ` (${tasks.slice(0, 5).map(name).join(', ')}${more})`
}

function because(text: string | undefined): string {
  return text === undefined || line(text) === '' ? '' : `: ${line(text)}`
}

/** What an agent wants to do, as a question. */
export function permissionWords({ tool, title, command, path }: PermissionRequest): string {
  const what =
    command === undefined
      ? path === undefined
        ? ''
        : `: ${line(path)}`
      : `: ${line(command, 300)}`
  return `May the agent use ${line(tool, 60)}${what === '' && title !== '' ? `: ${line(title)}` : what}?`
}
