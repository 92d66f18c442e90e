// What an event of a run is in words, on one line and without its time. The log off a terminal and the last lines of the
// live view say the same.
import { type Breaker, budgetLine, measured } from '../../../core.ts'
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
import { shortId } from '../../../public.ts'
import { line, plural } from '../terminal/text.ts'
import { defined } from '../../../text/defined.ts'
import { cents, clock, span, tokens } from '../terminal/amounts.ts'

/** The same event with paths in the run's own worktree relative to its root. */
export function nearby(event: RunEvent, worktree: string | undefined): RunEvent {
  if (event.kind !== 'tool' || worktree === undefined || worktree === '') return event
  const root = `${worktree}/`
  const { path, command } = event.data
  const near = defined({
    path: path?.startsWith(root) === true ? path.slice(root.length) : path,
    command: command?.replaceAll(root, ''),
  })
  return { ...event, data: { ...event.data, ...near } }
}

/** Undefined for what is no news by itself: use, which comes many times a second, and tools that ended well. */
export function wordsOf(event: RunEvent): string | undefined {
  const words = ownWords(event)
  return words === undefined ? undefined : withName(event, words)
}

/** Events whose words do not name the task. */
const UNNAMED: ReadonlySet<RunEventKind> = new Set([
  'message',
  'session.opened',
  'session.closed',
  'conversation.opened',
  'text',
  'tool',
  'stage',
  'limit.reached',
])

/** In a run of several delegates, whose event it is, unless the task is named anyway. */
export function withName({ delegate, kind }: RunEvent, words: string): string {
  return delegate === undefined || !UNNAMED.has(kind) ? words : `[${line(delegate, 40)}] ${words}`
}

function ownWords(event: RunEvent): string | undefined {
  const task = event.task === undefined ? 'a task' : name(event.task)
  switch (event.kind) {
    case 'run.planned':
      return started(event.data)
    case 'message':
      return line(event.data.text)
    case 'session.opened': {
      const { number, name: session, because: why, planned = [] } = event.data
      return `session ${number}, ${line(session, 40)}: ${line(why)}${listed(planned)}`
    }
    case 'conversation.opened':
      return `conversation ${event.data.number} opened${event.data.handoff === undefined ? '' : ', with a handoff'}`
    case 'attempt.started': {
      const { number, place, task: about } = event.data
      return `▶ ${task}: ${number === 1 ? line(about.title) : `attempt ${number}, ${place}`}`
    }
    case 'turn.started':
      return TURNS[event.data.why] === '' ? undefined : `${task}: ${TURNS[event.data.why]}`
    case 'text':
      return line(event.data.text) === '' ? undefined : `“${line(event.data.text)}”`
    case 'tool': {
      const { status } = event.data
      return status === 'completed'
        ? undefined
        : `${toolWords(event.data)}${status === 'failed' ? ' failed' : ''}`
    }
    case 'stage': {
      const { stage, gauge } = event.data
      return `${stage === 'smart-zone' ? 'past the smart zone' : `past ${stageName(stage)} of the way`}: ${gaugeWords(gauge)}`
    }
    case 'context.compacted': {
      const { tokensBefore } = event.data
      return `compacted in the middle of ${task}${tokensBefore === undefined ? '' : `, at ${tokens(tokensBefore)} tokens`}`
    }
    case 'verify.started':
      return `${task}: verifying with ${line(event.data.command, 80)}`
    case 'verify.ended': {
      const { passed, seconds, summary } = event.data
      return `${task}: ${passed ? 'verified' : 'verify FAILED'} after ${span(seconds)}${passed ? '' : because(summary)}`
    }
    case 'attempt.ended':
      return endedWords(task, event.data)
    case 'task.parked': {
      const { reason, kept } = event.data
      return `✗ ${task} parked: ${line(reason)}${kept === undefined ? '' : ` (kept: ${line(kept)})`}`
    }
    case 'breaker.tripped':
      return `${task}: stopped, ${BREAKERS[event.data.which]}: ${line(event.data.detail)}`
    case 'limit.reached':
      return `usage limit: ${limitParts(event.data).join('; ')}`
    case 'rotation.decided': {
      const { stay, rule, because: why } = event.data
      return rule === 'first'
        ? undefined
        : `${stay ? 'staying' : 'a fresh conversation'} for ${task}: ${line(why)}`
    }
    case 'session.closed': {
      const { name: session = '', done = 0, because: why } = event.data
      return `session ${line(session, 40)} closed, ${done} done: ${line(why)}`
    }
    case 'delegate.started':
      return event.data.isAgain
        ? `${task}: begun again`
        : `${task}: with a delegate of its own, on ${line(event.data.branch, 60)}`
    case 'delegate.ready':
      return `${task}: ready to be merged${because(event.data.summary)}`
    case 'delegate.merged': {
      const { target, commit } = event.data
      return `${task}: merged into ${line(target, 60)}${commit === undefined ? '' : `, ${commitName(commit)}`}`
    }
    case 'delegate.conflicted':
      return `${task}: not merged${because(event.data.because)}${event.data.isSentBack ? '; given back to be mended' : ''}`
    case 'delegate.parked': {
      const { next } = event.data
      return `${task}: its work is left on its branch${because(event.data.because)}${next === undefined ? '' : `; ${line(next)}`}`
    }
    case 'stopping':
      return stoppingWords(event.data.how, undefined)
    case 'run.report': {
      const { how, seconds, spend } = event.data
      return `run ended: ${END_WORDS[how]}; ${countWords(event.data)}, ${span(seconds)}, ${costWords(spend)}`
    }
    default:
      return undefined
  }
}

function endedWords(task: string, ended: RunEvent<'attempt.ended'>['data']): string | undefined {
  const { outcome, number = '', reason = '', commit, summary, seconds, spend, next } = ended
  switch (outcome) {
    case 'done': {
      const took = seconds === undefined ? '' : ` in ${span(seconds)}`
      const cost =
        spend === undefined ? '' : `, ${tokens(allTokens(spend))} tokens, ${costWords(spend)}`
      return `✓ ${task} done${took}${cost}${commit === undefined ? '' : `, ${commitName(commit)}`}${because(summary)}`
    }
    case 'failed':
      return `${task}: attempt ${number} failed: ${line(reason)}${next === undefined ? '' : `; ${THEN[next]}`}`
    case 'blocked':
      return `⊘ ${task} blocked: ${line(blockedReason(ended))}`
    case 'interrupted':
      return undefined
  }
}

/** What became of a task, if the event settles that. */
export function outcomeIn({ kind, data }: RunEvent): 'done' | 'blocked' | 'parked' | undefined {
  if (kind === 'task.parked') return 'parked'
  if (kind !== 'attempt.ended') return undefined
  return data.outcome === 'done' || data.outcome === 'blocked' ? data.outcome : undefined
}

/** Why a task is blocked, and where its work is. */
export function blockedReason({ reason = '', kept }: RunEvent<'attempt.ended'>['data']): string {
  return kept === undefined ? reason : `${reason} (its work is kept as ${kept})`
}

function started({
  run,
  harness,
  model,
  branch,
  tasks,
  isResumed,
  parallel = 1,
}: RunEvent<'run.planned'>['data']): string {
  const program = [harness, ...(model === undefined ? [] : [model])]
    .map((part) => line(part, 60))
    .join(', ')
  return `run ${runName(run)} ${isResumed ? 'goes on' : 'started'}: ${plural(tasks.length, 'task')} with ${program}${branch === undefined ? '' : ` on ${line(branch, 60)}`}${parallel > 1 ? `, ${parallel} at once` : ''}`
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

export function limitParts({
  message,
  resetsAt,
  isWaiting = false,
}: RunEvent<'limit.reached'>['data']): readonly string[] {
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
