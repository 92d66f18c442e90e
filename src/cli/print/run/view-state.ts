// The state of the live view: a pure fold over the events of a run.
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
  readonly activity?: string
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
        readonly activity?: string | undefined
      }
    | undefined
  /** Only in a parallel run. */
  readonly activeDelegates?: readonly ActiveDelegate[] | undefined
  readonly gauge?: Gauge | undefined
  readonly spend?: Spend
  readonly limit?: RunEvent<'limit.reached'>['data'] | undefined
  readonly stopping?: 'after task' | 'now'
  readonly ended?: EndOfRun
  readonly tail: readonly { readonly at: string; readonly text: string }[]
}

export const EMPTY_VIEW: RunViewState = { outcomes: {}, tail: [] }

const MAX_TAIL_LINES = 12

export function applyEvent(state: RunViewState, event: RunEvent): RunViewState {
  const shortened = relativeToWorktree(event, worktreeOf(state, event))
  const changed =
    event.delegate === undefined
      ? changesFrom(state, shortened)
      : changesFromDelegate(state, shortened)
  const next = { ...state, ...changed }
  const text = tailText(state, shortened)
  return text === undefined
    ? next
    : { ...next, tail: [...state.tail, { at: event.at, text }].slice(-MAX_TAIL_LINES) }
}

export function worktreeOf(state: RunViewState, { delegate }: RunEvent): string | undefined {
  return delegate === undefined
    ? state.worktree
    : state.activeDelegates?.find(({ name }) => name === delegate)?.worktree
}

/** Events of a delegate that also concern the whole run. */
const RUN_WIDE_KINDS: ReadonlySet<RunEventKind> = new Set([
  'attempt.ended',
  'task.parked',
  'limit.reached',
])

function changesFromDelegate(state: RunViewState, event: RunEvent): Partial<RunViewState> {
  const activeDelegates = updateActiveDelegates(state.activeDelegates ?? [], event)
  if (event.kind === 'attempt.started')
    return { activeDelegates, outcomes: withTask(state, event.data.task) }
  if (event.kind === 'usage') return { activeDelegates, limit: undefined, spend: event.data.spend }
  return { activeDelegates, ...(RUN_WIDE_KINDS.has(event.kind) ? changesFrom(state, event) : {}) }
}

type Changes = {
  readonly [K in RunEventKind]?: (state: RunViewState, event: RunEvent<K>) => Partial<RunViewState>
}

const CHANGE_OF_KIND: Changes = {
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
    // The clock of a task keeps running over its attempts.
    const startedAt = state.current?.task.id === task.id ? state.current.startedAt : at
    return { outcomes: withTask(state, task), current: { task, attempt, place, startedAt } }
  },
  'turn.started': (state, { task, data: { why } }) => {
    const activity = { task: undefined, asked: 'asked how it stands', retry: 'told what failed' }[
      why
    ]
    return withActivity(state, task, activity)
  },
  'verify.started': (state, event) => withActivity(state, event.task, verifyText(event)),
  'verify.ended': (state, event) => withActivity(state, event.task, verifyText(event)),
  // A rate limit is over when the model answers again.
  usage: (_, { data: { gauge, spend } }) => ({ gauge, spend, limit: undefined }),
  stage: (_, { data: { gauge } }) => ({ gauge }),
  'limit.reached': (_, { data }) => ({ limit: data }),
  stopping: (_, { data: { how } }) => ({ stopping: how }),
  'session.closed': () => ({ current: undefined }),
  'run.ended': (_, { data: { how } }) => ({ current: undefined, limit: undefined, ended: how }),
  'run.report': (_, { data: { spend } }) => ({ spend }),
}

function changesFrom(state: RunViewState, event: RunEvent): Partial<RunViewState> {
  const outcome = taskOutcome(event)
  if (outcome === undefined) {
    // TypeScript does not connect the kind with its event type through the lookup.
    const change = CHANGE_OF_KIND[event.kind] as
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

function withActivity(
  { current }: RunViewState,
  task: TaskName | undefined,
  activity: string | undefined,
): Partial<RunViewState> {
  return current !== undefined && current.task.id === task?.id
    ? { current: { ...current, activity } }
    : {}
}

function verifyText({ kind, data }: RunEvent<'verify.started' | 'verify.ended'>) {
  if (kind === 'verify.started') return `verifying with ${shortLine(data.command, 60)}`
  return data.passed ? 'verified' : 'verify failed'
}

/** A task that was added later is counted from now on. */
function withTask({ outcomes }: RunViewState, { id }: TaskName): RunViewState['outcomes'] {
  return { [id]: 'open', ...outcomes }
}

/** These are shown above the block or in their own section. */
const NOT_IN_TAIL: ReadonlySet<RunEventKind> = new Set([
  'session.closed',
  'stopping',
  'limit.reached',
])

/** Some harnesses report a tool call only at its end; one that reported its start is not shown twice. */
function tailText(state: RunViewState, event: RunEvent) {
  if (NOT_IN_TAIL.has(event.kind) || taskOutcome(event) !== undefined) return undefined
  if (event.kind !== 'tool' || event.data.status !== 'completed') return eventText(event)
  const text = withDelegateName(event, toolText(event.data))
  return state.tail.some((line) => line.text === text) ? undefined : text
}

export function countOutcome({ outcomes }: RunViewState, outcome: Outcome): number {
  return Object.values(outcomes).filter((line) => line === outcome).length
}

function updateActiveDelegates(
  delegates: readonly ActiveDelegate[],
  event: RunEvent,
): readonly ActiveDelegate[] {
  const { at, delegate, kind, data, task } = event
  if (kind === 'delegate.started') {
    if (delegate === undefined || task === undefined) return delegates
    const activity = data.isAgain ? 'begun again' : undefined
    const started = { name: delegate, task, worktree: data.worktree, startedAt: at }
    return [
      ...delegates.filter(({ name }) => name !== delegate),
      { ...started, ...defined({ activity }) },
    ]
  }
  if (taskOutcome(event) !== undefined)
    return delegates.filter((active) => active.task.id !== task?.id)
  const activity = activityText(event)
  const percent = kind === 'usage' ? data.gauge.percent : undefined
  return delegates.map((active) =>
    active.name === delegate ? { ...active, ...defined({ activity, percent }) } : active,
  )
}

function activityText(event: RunEvent) {
  const { kind, data } = event
  switch (kind) {
    case 'attempt.started':
      return data.number === 1 ? undefined : `attempt ${data.number}`
    case 'tool':
      return data.status === 'started' ? toolText(data) : undefined
    case 'verify.started':
    case 'verify.ended':
      return verifyText(event)
    case 'delegate.ready':
      return 'ready, to be merged in its turn'
    case 'delegate.conflicted':
      return `not merged: ${shortLine(data.because)}`
    default:
      return undefined
  }
}
