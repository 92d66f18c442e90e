// What a run amounts to, for the live view: a pure fold over its events.
import type { AttemptConversation } from '../../../core.ts'
import type { EndOfRun, Gauge, RunEvent, RunEventKind, Spend, TaskName } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import { shortLine } from '../terminal/text.ts'
import {
  relativeToWorktree,
  taskOutcome,
  toolText,
  withDelegateName,
  eventText,
} from './event-text.ts'

export type Outcome = 'open' | 'done' | 'parked' | 'blocked'

export interface ActiveDelegate {
  readonly name: string
  readonly task: TaskName
  readonly worktree: string
  readonly startedAt: string
  readonly doing?: string
  readonly percent?: number
}

export interface RunViewState {
  readonly run?: string
  readonly harness?: string
  readonly model?: string | undefined
  readonly branch?: string | undefined
  readonly worktree?: string | undefined
  readonly startedAt?: string
  readonly expectedSeconds?: number | undefined
  readonly outcomes: Readonly<Record<string, Outcome>>
  readonly session?: { readonly number: number; readonly name: string }
  readonly conversation?: { readonly number: number; readonly id?: string } | undefined
  readonly current?:
    | {
        readonly task: TaskName
        readonly attempt: number
        readonly place: AttemptConversation
        readonly startedAt: string
        readonly doing?: string | undefined
      }
    | undefined
  /** Only in a run that works on several tasks at once. */
  readonly activeDelegates?: readonly ActiveDelegate[] | undefined
  readonly gauge?: Gauge | undefined
  readonly spend?: Spend
  readonly limit?: RunEvent<'limit.reached'>['data'] | undefined
  readonly stopping?: 'after task' | 'now'
  readonly ended?: EndOfRun
  readonly tail: readonly { readonly at: string; readonly words: string }[]
}

export const EMPTY_VIEW: RunViewState = { outcomes: {}, tail: [] }

const TAIL = 12

export function applyEvent(state: RunViewState, event: RunEvent): RunViewState {
  const near = relativeToWorktree(event, worktreeOf(state, event))
  const changed =
    event.delegate === undefined ? changesBy(state, near) : changesByDelegate(state, near)
  const next = { ...state, ...changed }
  const words = tailWords(state, near)
  return words === undefined
    ? next
    : { ...next, tail: [...state.tail, { at: event.at, words }].slice(-TAIL) }
}

export function worktreeOf(state: RunViewState, { delegate }: RunEvent): string | undefined {
  return delegate === undefined
    ? state.worktree
    : state.activeDelegates?.find(({ name }) => name === delegate)?.worktree
}

/** Events of a delegate that are about the whole run, too. */
const OF_THE_RUN: ReadonlySet<RunEventKind> = new Set([
  'attempt.ended',
  'task.parked',
  'limit.reached',
])

function changesByDelegate(state: RunViewState, event: RunEvent): Partial<RunViewState> {
  const atWork = atWorkAfter(state.activeDelegates ?? [], event)
  if (event.kind === 'attempt.started')
    return { activeDelegates: atWork, outcomes: withTask(state, event.data.task) }
  if (event.kind === 'usage')
    return { activeDelegates: atWork, limit: undefined, spend: event.data.spend }
  return { activeDelegates: atWork, ...(OF_THE_RUN.has(event.kind) ? changesBy(state, event) : {}) }
}

type Changes = {
  readonly [K in RunEventKind]?: (state: RunViewState, event: RunEvent<K>) => Partial<RunViewState>
}

const CHANGES: Changes = {
  'run.planned': ({ outcomes }, { at, data }) => {
    const { run, harness, model, branch, worktree, expectedSeconds, tasks, parallel } = data
    const open = Object.fromEntries(tasks.map(({ id }): [string, Outcome] => [id, 'open']))
    return {
      run,
      harness,
      model,
      branch,
      worktree,
      expectedSeconds,
      startedAt: at,
      outcomes: { ...open, ...outcomes },
      activeDelegates: parallel === undefined ? undefined : [],
    }
  },
  'session.opened': (_, { data: { number, name } }) => ({
    session: { number, name },
    conversation: undefined,
    gauge: undefined,
  }),
  'conversation.opened': (_, { data: { number } }) => ({
    conversation: { number },
    gauge: undefined,
  }),
  'conversation.started': (_, { data: { number, conversation: id } }) => ({
    conversation: { number, id },
  }),
  'attempt.started': (state, { at, data: { task, number: attempt, place } }) => {
    // The clock of a task goes on over its attempts.
    const startedAt = state.current?.task.id === task.id ? state.current.startedAt : at
    return { outcomes: withTask(state, task), current: { task, attempt, place, startedAt } }
  },
  'turn.started': (state, { task, data: { why } }) => {
    const doing = { task: undefined, asked: 'asked how it stands', retry: 'told what failed' }[why]
    return withDoing(state, task, doing)
  },
  'verify.started': (state, event) => withDoing(state, event.task, verifyWords(event)),
  'verify.ended': (state, event) => withDoing(state, event.task, verifyWords(event)),
  // A limit that was waited for is over when the model answers again.
  usage: (_, { data: { gauge, spend } }) => ({ gauge, spend, limit: undefined }),
  stage: (_, { data: { gauge } }) => ({ gauge }),
  'limit.reached': (_, { data }) => ({ limit: data }),
  stopping: (_, { data: { how } }) => ({ stopping: how }),
  'session.closed': () => ({ current: undefined }),
  'run.ended': (_, { data: { how } }) => ({ current: undefined, limit: undefined, ended: how }),
  'run.report': (_, { data: { spend } }) => ({ spend }),
}

function changesBy(state: RunViewState, event: RunEvent): Partial<RunViewState> {
  const outcome = taskOutcome(event)
  if (outcome === undefined) {
    // The table has each kind's own event type, which TypeScript does not see through the lookup.
    const change = CHANGES[event.kind] as
      | ((state: RunViewState, event: RunEvent) => Partial<RunViewState>)
      | undefined
    return change?.(state, event) ?? {}
  }
  const { current, outcomes } = state
  const { task } = event
  if (task === undefined) return {}
  return {
    current: current?.task.id === task.id ? undefined : current,
    outcomes: { ...outcomes, [task.id]: outcome },
  }
}

function withDoing(
  { current }: RunViewState,
  task: TaskName | undefined,
  doing: string | undefined,
): Partial<RunViewState> {
  return current !== undefined && current.task.id === task?.id
    ? { current: { ...current, doing } }
    : {}
}

function verifyWords({ kind, data }: RunEvent<'verify.started' | 'verify.ended'>) {
  if (kind === 'verify.started') return `verifying with ${shortLine(data.command, 60)}`
  return data.passed ? 'verified' : 'verify failed'
}

/** A task that was not among those of the start is counted with them from now on. */
function withTask({ outcomes }: RunViewState, { id }: TaskName): RunViewState['outcomes'] {
  return { [id]: 'open', ...outcomes }
}

/** Shown above the view for good, or in a place of their own. */
const STAYS: ReadonlySet<RunEventKind> = new Set(['session.closed', 'stopping', 'limit.reached'])

/** Some harnesses report a tool only when it is over; one that reported its start is not shown twice. */
function tailWords(state: RunViewState, event: RunEvent) {
  if (STAYS.has(event.kind) || taskOutcome(event) !== undefined) return undefined
  if (event.kind !== 'tool' || event.data.status !== 'completed') return eventText(event)
  const words = withDelegateName(event, toolText(event.data))
  return state.tail.some((each) => each.words === words) ? undefined : words
}

export function countOutcome({ outcomes }: RunViewState, outcome: Outcome): number {
  return Object.values(outcomes).filter((each) => each === outcome).length
}

function atWorkAfter(all: readonly ActiveDelegate[], event: RunEvent): readonly ActiveDelegate[] {
  const { at, delegate, kind, data, task } = event
  if (kind === 'delegate.started') {
    if (delegate === undefined || task === undefined) return all
    const doing = data.isAgain ? 'begun again' : undefined
    const begun = { name: delegate, task, worktree: data.worktree, startedAt: at }
    return [...all.filter(({ name }) => name !== delegate), { ...begun, ...defined({ doing }) }]
  }
  if (taskOutcome(event) !== undefined) return all.filter((one) => one.task.id !== task?.id)
  const doing = doingIn(event)
  const percent = kind === 'usage' ? data.gauge.percent : undefined
  return all.map((one) =>
    one.name === delegate ? { ...one, ...defined({ doing, percent }) } : one,
  )
}

function doingIn(event: RunEvent) {
  const { kind, data } = event
  switch (kind) {
    case 'attempt.started':
      return data.number === 1 ? undefined : `attempt ${data.number}`
    case 'tool':
      return data.status === 'started' ? toolText(data) : undefined
    case 'verify.started':
    case 'verify.ended':
      return verifyWords(event)
    case 'delegate.ready':
      return 'ready, to be merged in its turn'
    case 'delegate.conflicted':
      return `not merged: ${shortLine(data.because)}`
    default:
      return undefined
  }
}
