// Entries come from a file that another version may have written. One that lacks what the fold stands on is passed over.
import { isRecord } from '../backlog/canonical.ts'
import { countOf, listOf } from '../text/json-fields.ts'
import type { RunEntry, RunEntryKind } from './entries.ts'
import type { NeverBegun, TaskName } from './report.ts'

type Shape = Readonly<Record<string, 'string' | 'number' | 'object'>>

const SHAPES: Readonly<Partial<Record<RunEntryKind, Shape>>> = {
  'run.started': {
    options: 'object',
    harness: 'string',
    tree: 'string',
    branch: 'string',
    base: 'string',
    runner: 'object',
  },
  'run.resumed': { runner: 'object' },
  'session.opened': { session: 'string', name: 'string' },
  'session.closed': { session: 'string' },
  'conversation.opened': {
    number: 'number',
    session: 'string',
    process: 'object',
    setup: 'number',
  },
  'conversation.started': { number: 'number', conversation: 'string' },
  'conversation.ended': { number: 'number' },
  'attempt.started': {
    attempt: 'string',
    task: 'object',
    session: 'string',
    conversation: 'number',
  },
  'turn.ended': { attempt: 'string', conversation: 'number', spent: 'object', requests: 'number' },
  'context.compacted': { attempt: 'string' },
  'limit.reached': { message: 'string' },
  'attempt.ended': { attempt: 'string', outcome: 'string' },
  'work.kept': { attempt: 'string', kept: 'string' },
  'task.parked': { task: 'string', reason: 'string' },
  'delegate.begun': { delegate: 'string', task: 'string' },
  'delegate.moved': { to: 'string' },
  'delegate.told': { text: 'string' },
  'merge.begun': {
    target: 'string',
    onto: 'string',
    tip: 'string',
    merger: 'object',
    tree: 'string',
  },
  'merge.landing': { target: 'string', from: 'string', to: 'string' },
  'run.ended': { how: 'string' },
}

export function isWhole({ kind, data }: RunEntry): boolean {
  const shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : undefined
  if (shape === undefined) return true
  const fields: unknown = data
  if (!isRecord(fields)) return false
  return Object.entries(shape).every(([name, type]) => {
    return type === 'object' ? isRecord(fields[name]) : typeof fields[name] === type
  })
}

/** What an entry tells of tasks that were never begun, as far as it does. */
export function neverBegunIn(value: unknown): NeverBegun | undefined {
  const { count, tasks } = isRecord(value) ? value : {}
  const named = listOf(tasks).filter(isTaskName)
  const counted = Math.max(named.length, Math.floor(countOf(count) ?? 0))
  return counted === 0 ? undefined : { count: counted, tasks: named }
}

function isTaskName(value: unknown): value is TaskName {
  return (
    isRecord(value) && ['id', 'name', 'title'].every((field) => typeof value[field] === 'string')
  )
}
