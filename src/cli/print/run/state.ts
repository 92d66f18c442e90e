// What a run amounts to, for the live view: a pure fold over its events.
// Those who work at once, a line each: pure, from the events that have their names.
import type { AttemptPlace } from '../../../core.ts'
import type { EndOfRun, Gauge, RunEvent, RunEventKind, Spend, TaskName } from '../../../library.ts'
import { line } from '../terminal/text.ts'
import { name as nameOf, nearby, outcomeIn, toolWords, withName, wordsOf } from './words.ts'
import { defined } from '../../../text/defined.ts'
import { span } from '../terminal/amounts.ts'
import type { Paint } from '../terminal/paint.ts'
import { cutTo, padTo, widthOf } from '../terminal/width.ts'

export type Outcome = 'open' | 'done' | 'parked' | 'blocked'

export interface CurrentTask {
  readonly task: TaskName
  readonly attempt: number
  readonly place: AttemptPlace
  readonly startedAt: string
  /** What is being done for it, when that is not the work itself. */
  readonly doing?: string
}

export interface ViewState {
  readonly run?: string
  readonly harness?: string
  readonly model?: string
  readonly branch?: string
  readonly worktree?: string
  readonly startedAt?: string
  readonly expectedSeconds?: number
  /** How each task stands, by its id. */
  readonly outcomes: Readonly<Record<string, Outcome>>
  readonly session?: { readonly number: number; readonly name: string }
  readonly conversation?: { readonly number: number; readonly id?: string }
  readonly current?: CurrentTask
  /** Those who work at once, of a run that has several. */
  readonly atWork?: readonly AtWork[]
  readonly gauge?: Gauge
  readonly spend?: Spend
  readonly limit?: RunEvent<'limit.reached'>['data']
  readonly stopping?: 'after task' | 'now'
  readonly ended?: EndOfRun
  /** What was said last, the latest at the end. */
  readonly tail: readonly { readonly at: string; readonly words: string }[]
}

export const NOTHING_YET: ViewState = { outcomes: {}, tail: [] }

const TAIL = 12

/** What is true after an event. */
export function afterEvent(state: ViewState, event: RunEvent): ViewState {
  const worktree = event.delegate === undefined ? state.worktree : worktreeOf(state, event.delegate)
  const told = nearby(event, worktree)
  return withTail(
    event.delegate === undefined ? withFacts(state, told) : withDelegate(state, told),
    told,
  )
}

function worktreeOf({ atWork = [] }: ViewState, delegate: string): string | undefined {
  return atWork.find(({ name }) => name === delegate)?.worktree
}

/** What one of several tells is about its own task, but for what all of them have spent and what holds up all. */
function withDelegate(state: ViewState, event: RunEvent): ViewState {
  const next = { ...state, atWork: atWorkAfter(state.atWork ?? [], event) }
  switch (event.kind) {
    case 'attempt.started':
      return known(next, event.data.task)
    case 'usage':
      return { ...without(next, 'limit'), spend: event.data.spend }
    case 'attempt.ended':
    case 'task.parked':
    case 'limit.reached':
      return withFacts(next, event)
    default:
      return next
  }
}

function withFacts(state: ViewState, event: RunEvent): ViewState {
  const outcome = outcomeIn(event)
  if (outcome !== undefined)
    return event.task === undefined ? state : settled(state, event.task, outcome)
  const { at, kind, data } = event
  switch (kind) {
    case 'run.planned': {
      const { run, harness, model, branch, worktree, expectedSeconds, tasks, parallel } = data
      const outcomes = Object.fromEntries(tasks.map(({ id }): [string, Outcome] => [id, 'open']))
      return {
        ...state,
        run,
        harness,
        startedAt: at,
        outcomes: { ...outcomes, ...state.outcomes },
        ...defined({ model, branch, worktree, expectedSeconds }),
        ...(parallel === undefined ? {} : { atWork: [] }),
      }
    }
    case 'session.opened':
      return {
        ...without(state, 'conversation', 'gauge'),
        session: { number: data.number, name: data.name },
      }
    case 'conversation.opened':
      return { ...without(state, 'gauge'), conversation: { number: data.number } }
    case 'conversation.started':
      return { ...state, conversation: { number: data.number, id: data.conversation } }
    case 'attempt.started': {
      const { task, number, place } = data
      // The clock of a task goes on over its attempts.
      const startedAt = state.current?.task.id === task.id ? state.current.startedAt : at
      return { ...known(state, task), current: { task, attempt: number, place, startedAt } }
    }
    case 'turn.started':
      return doing(
        state,
        event.task,
        { task: undefined, asked: 'asked how it stands', retry: 'told what failed' }[data.why],
      )
    case 'verify.started':
      return doing(state, event.task, `verifying with ${line(data.command, 60)}`)
    case 'verify.ended':
      return doing(state, event.task, data.passed ? 'verified' : 'verify failed')
    case 'usage': {
      // A limit that was waited for is over when the model answers again.
      const { gauge, spend } = data
      return { ...without(state, 'limit'), gauge, spend }
    }
    case 'stage':
      return { ...state, gauge: data.gauge }
    case 'limit.reached':
      return { ...state, limit: data }
    case 'stopping':
      return { ...state, stopping: data.how }
    case 'session.closed':
      return without(state, 'current')
    case 'run.ended':
      return { ...without(state, 'current', 'limit'), ended: data.how }
    case 'run.report':
      return { ...state, spend: data.spend }
    default:
      return state
  }
}

function doing(state: ViewState, task: TaskName | undefined, what: string | undefined): ViewState {
  if (state.current === undefined || state.current.task.id !== task?.id) return state
  const { doing: _, ...current } = state.current
  return { ...state, current: what === undefined ? current : { ...current, doing: what } }
}

/** A task that was not among those of the start is counted with them from now on. */
function known(state: ViewState, { id }: TaskName): ViewState {
  return Object.hasOwn(state.outcomes, id)
    ? state
    : { ...state, outcomes: { ...state.outcomes, [id]: 'open' } }
}

function settled(state: ViewState, { id }: TaskName, outcome: Outcome): ViewState {
  const rest = state.current?.task.id === id ? without(state, 'current') : state
  return { ...rest, outcomes: { ...state.outcomes, [id]: outcome } }
}

function withTail(state: ViewState, event: RunEvent): ViewState {
  const words = tailWords(state, event)
  return words === undefined
    ? state
    : { ...state, tail: [...state.tail, { at: event.at, words }].slice(-TAIL) }
}

/** What stands above the view for good, or in a place of its own, need not stand among the last lines as well. */
const STAYS: ReadonlySet<RunEventKind> = new Set(['session.closed', 'stopping', 'limit.reached'])

/** A harness that tells of a tool only when it is over is heard too; one that told of its start is not heard twice. */
function tailWords(state: ViewState, event: RunEvent): string | undefined {
  if (STAYS.has(event.kind) || outcomeIn(event) !== undefined) return undefined
  if (event.kind !== 'tool' || event.data.status !== 'completed') return wordsOf(event)
  const words = withName(event, toolWords(event.data))
  return state.tail.some((each) => each.words === words) ? undefined : words
}

type Optional = 'conversation' | 'gauge' | 'current' | 'limit'

function without(state: ViewState, ...fields: readonly Optional[]): ViewState {
  return Object.fromEntries(
    Object.entries(state).filter(([field]) => !fields.includes(field as Optional)),
  ) as unknown as ViewState
}

export function countOf({ outcomes }: ViewState, outcome: Outcome): number {
  return Object.values(outcomes).filter((each) => each === outcome).length
}

export interface AtWork {
  readonly name: string
  readonly task: TaskName
  readonly worktree: string
  readonly startedAt: string
  readonly doing?: string
  /** How full its conversation is, in percent. */
  readonly percent?: number
}

export function atWorkAfter(all: readonly AtWork[], event: RunEvent): readonly AtWork[] {
  const { at, delegate, kind, data, task } = event
  if (kind === 'delegate.started') {
    if (delegate === undefined || task === undefined) return all
    const { worktree, isAgain } = data
    const doing = isAgain ? 'begun again' : undefined
    const rest = all.filter(({ name }) => name !== delegate)
    return [...rest, { name: delegate, task, worktree, startedAt: at, ...defined({ doing }) }]
  }
  if (outcomeIn(event) !== undefined) return all.filter((one) => one.task.id !== task?.id)
  const doing = doingAfter(event)
  const percent = kind === 'usage' ? data.gauge.percent : undefined
  if (doing === undefined && percent === undefined) return all
  return all.map((one) =>
    one.name === delegate ? { ...one, ...defined({ doing, percent }) } : one,
  )
}

function doingAfter({ kind, data }: RunEvent): string | undefined {
  switch (kind) {
    case 'attempt.started':
      return data.number === 1 ? undefined : `attempt ${data.number}`
    case 'tool':
      return data.status === 'started' ? toolWords(data) : undefined
    case 'verify.started':
      return `verifying with ${line(data.command, 60)}`
    case 'verify.ended':
      return data.passed ? 'verified' : 'verify failed'
    case 'delegate.ready':
      return 'ready, to be merged in its turn'
    case 'delegate.conflicted':
      return `not merged: ${line(data.because)}`
    default:
      return undefined
  }
}

const LONGEST_NAME = 24
/** With less there is room for the name alone. */
const LEAST_DOING = 8

/** Each on one line: whose task, how long, how full, doing what. */
export function atWorkLines(
  all: readonly AtWork[],
  width: number,
  now: string,
  paint: Paint,
): readonly string[] {
  const names = all.map(({ task }) =>
    cutTo(nameOf(task), Math.min(LONGEST_NAME, Math.max(8, Math.floor(width * 0.35)))),
  )
  const longest = Math.max(0, ...names.map(widthOf))
  return all.map(({ startedAt, doing = '', percent }, index) => {
    const seconds = (Date.parse(now) - Date.parse(startedAt)) / 1000
    const full = percent === undefined ? '' : `${Math.round(percent)}%`
    const figures = ` ${span(seconds).padStart(7)} ${full.padStart(4)}`
    const room = width - longest - widthOf(figures) - 2
    if (room < 0) return paint(cutTo(names[index]!, width), 'cyan')
    const more = room < LEAST_DOING ? '' : `  ${cutTo(doing, room)}`
    return `${paint(padTo(names[index]!, longest), 'cyan')}${figures}${more}`.trimEnd()
  })
}
