// What a run amounts to, for the live view: a pure fold over its events.
// Those who work at once, a line each: pure, from the events that have their names.
import { line } from '../terminal/text.ts'
import type { AttemptPlace, Gauge, RunEvent } from '../../../run/events.ts'
import type { EndOfRun, Spend, TaskName } from '../../../run/report.ts'
import { name as nameOf, nearby, toolWords, withName, wordsOf } from './words.ts'
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

export interface RunState {
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
  readonly limit?: Extract<RunEvent, { type: 'limit' }>
  readonly stopping?: 'after task' | 'now'
  readonly ended?: EndOfRun
  /** What was said last, the latest at the end. */
  readonly tail: readonly { readonly at: string; readonly words: string }[]
}

export const NOTHING_YET: RunState = { outcomes: {}, tail: [] }

const TAIL = 12

/** What is true after an event. */
export function afterEvent(state: RunState, event: RunEvent): RunState {
  const worktree = event.delegate === undefined ? state.worktree : worktreeOf(state, event.delegate)
  const told = nearby(event, worktree)
  return withTail(
    event.delegate === undefined ? withFacts(state, told) : withDelegate(state, told),
    told,
  )
}

function worktreeOf({ atWork = [] }: RunState, delegate: string): string | undefined {
  return atWork.find(({ name }) => name === delegate)?.worktree
}

/** What one of several tells is about its own task, but for what all of them have spent and what holds up all. */
function withDelegate(state: RunState, event: RunEvent): RunState {
  const next = { ...state, atWork: atWorkAfter(state.atWork ?? [], event) }
  switch (event.type) {
    case 'task.started':
      return known(next, event.task)
    case 'usage':
      return { ...without(next, 'limit'), spend: event.spend }
    case 'task.done':
    case 'task.parked':
    case 'task.blocked':
    case 'limit':
      return withFacts(next, event)
    default:
      return next
  }
}

function withFacts(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'run.started': {
      const { run, harness, model, branch, worktree, at, expectedSeconds, tasks, parallel } = event
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
        session: { number: event.number, name: event.name },
      }
    case 'conversation.opened': {
      const { number, conversation } = event
      const isSame = state.conversation?.number === number
      const opened = conversation === undefined ? { number } : { number, id: conversation }
      return { ...(isSame ? state : without(state, 'gauge')), conversation: opened }
    }
    case 'task.started': {
      const { task, attempt, place, at } = event
      // The clock of a task goes on over its attempts.
      const startedAt = state.current?.task.id === task.id ? state.current.startedAt : at
      return { ...known(state, task), current: { task, attempt, place, startedAt } }
    }
    case 'turn.started':
      return doing(
        state,
        event.task,
        { task: undefined, asked: 'asked how it stands', retry: 'told what failed' }[event.why],
      )
    case 'verify.started':
      return doing(state, event.task, `verifying with ${line(event.command, 60)}`)
    case 'verify.ended':
      return doing(state, event.task, event.passed ? 'verified' : 'verify failed')
    case 'usage': {
      // A limit that was waited for is over when the model answers again.
      const { gauge, spend } = event
      return { ...without(state, 'limit'), gauge, spend }
    }
    case 'stage':
      return { ...state, gauge: event.gauge }
    case 'task.done':
      return settled(state, event.task, 'done')
    case 'task.parked':
      return settled(state, event.task, 'parked')
    case 'task.blocked':
      return settled(state, event.task, 'blocked')
    case 'limit':
      return { ...state, limit: event }
    case 'stopping':
      return { ...state, stopping: event.how }
    case 'session.closed':
      return without(state, 'current')
    case 'run.ended':
      return { ...without(state, 'current', 'limit'), ended: event.how, spend: event.report.spend }
    default:
      return state
  }
}

function doing(state: RunState, task: TaskName, what: string | undefined): RunState {
  if (state.current?.task.id !== task.id) return state
  const { doing: _, ...current } = state.current
  return { ...state, current: what === undefined ? current : { ...current, doing: what } }
}

/** A task that was not among those of the start is counted with them from now on. */
function known(state: RunState, { id }: TaskName): RunState {
  return Object.hasOwn(state.outcomes, id)
    ? state
    : { ...state, outcomes: { ...state.outcomes, [id]: 'open' } }
}

function settled(state: RunState, { id }: TaskName, outcome: Outcome): RunState {
  const rest = state.current?.task.id === id ? without(state, 'current') : state
  return { ...rest, outcomes: { ...state.outcomes, [id]: outcome } }
}

function withTail(state: RunState, event: RunEvent): RunState {
  const words = tailWords(state, event)
  return words === undefined
    ? state
    : { ...state, tail: [...state.tail, { at: event.at, words }].slice(-TAIL) }
}

/** What stands above the view for good, or in a place of its own, need not stand among the last lines as well. */
const STAYS: ReadonlySet<RunEvent['type']> = new Set([
  'task.done',
  'task.parked',
  'task.blocked',
  'session.closed',
  'stopping',
  'limit',
])

/** A harness that tells of a tool only when it is over is heard too; one that told of its start is not heard twice. */
function tailWords(state: RunState, event: RunEvent): string | undefined {
  if (STAYS.has(event.type)) return undefined
  if (event.type !== 'tool' || event.status !== 'completed') return wordsOf(event)
  const words = withName(event, toolWords(event))
  return state.tail.some((each) => each.words === words) ? undefined : words
}

type Optional = 'conversation' | 'gauge' | 'current' | 'limit'

function without(state: RunState, ...fields: readonly Optional[]): RunState {
  return Object.fromEntries(
    Object.entries(state).filter(([field]) => !fields.includes(field as Optional)),
  ) as unknown as RunState
}

export function countOf({ outcomes }: RunState, outcome: Outcome): number {
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
  if (event.type === 'delegate.started') {
    const { delegate: name, task, worktree, at, isAgain } = event
    const rest = all.filter((one) => one.name !== name)
    return [
      ...rest,
      { name, task, worktree, startedAt: at, ...(isAgain ? { doing: 'begun again' } : {}) },
    ]
  }
  if (event.type === 'task.done' || event.type === 'task.parked' || event.type === 'task.blocked')
    return all.filter(({ task }) => task.id !== event.task.id)
  const doing = doingAfter(event)
  const percent = event.type === 'usage' ? event.gauge.percent : undefined
  if (doing === undefined && percent === undefined) return all
  return all.map((one) =>
    one.name === event.delegate
      ? {
          ...one,
          ...defined({ doing, percent }),
        }
      : one,
  )
}

function doingAfter(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'task.started':
      return event.attempt === 1 ? undefined : `attempt ${event.attempt}`
    case 'tool':
      return event.status === 'started' ? toolWords(event) : undefined
    case 'verify.started':
      return `verifying with ${line(event.command, 60)}`
    case 'verify.ended':
      return event.passed ? 'verified' : 'verify failed'
    case 'delegate.ready':
      return 'ready, to be merged in its turn'
    case 'delegate.conflicted':
      return `not merged: ${line(event.because)}`
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
