import type { ChecklistItem, TaskStatus } from '../../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import { nonEmptyString } from '../../session/kinds/read-fields.ts'
import { type SessionState, type Step, countItems } from '../../session/state.ts'
import { formatToSecond } from '../../text/times.ts'
import { sessionDomain } from './file-domain.ts'

export interface BacklogTask {
  readonly id: string
  readonly title: string
  readonly status: TaskStatus
  readonly dependsOn: readonly string[]
  readonly parent?: string
  readonly group?: string
  readonly assignee?: string
  readonly proposed: string
  readonly checklist: readonly ChecklistItem[]
}

export interface UnfinishedAgent {
  readonly id: string
  readonly prompt: string
  readonly isLost: boolean
}

export interface ExportSource {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly tasks: readonly BacklogTask[]
  readonly unfinished: readonly UnfinishedAgent[]
  readonly propose: (text: string) => string
}

type WorkStatus = 'pending' | 'working' | 'done' | 'paused' | 'delegated'

export interface ExportedTask {
  readonly id: string
  readonly description: string
  readonly status: WorkStatus
  readonly assignedTo: string
  readonly parent: string | null
  readonly dependencies: readonly string[]
  readonly group: string | null
  readonly checklist: readonly ChecklistItem[]
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly files: readonly string[]
}

export interface ExportedDelegate {
  readonly id: string
  readonly agent: string
  readonly task: string | null
  readonly prompt: string
  readonly status: 'running' | 'completed' | 'failed'
  readonly result: string | null
  readonly group: string | null
}

export type ExportedWork = ReturnType<typeof collectWork>

export type SessionComplexity = 'simple' | 'medium' | 'complex'

export const COMPLEX_FROM = 6

export function collectWork(source: ExportSource) {
  const { state, tasks } = source
  const files = state.changedFiles.items.map((file) => file.text)
  const entries = effectiveEntries(source.entries)
  const current = tasks.length > 0 ? currentTask(tasks) : currentStep(state.steps.items)
  const times = trackWork(entries, current)
  return {
    id: `${formatToSecond(state.createdAt).slice(0, 10)}_${state.name}`,
    complexity: complexityOf(workSize(source)),
    // Before anything has changed, the key files show the domain.
    domain: sessionDomain(files.length > 0 ? files : state.keyFiles.items.map((file) => file.text)),
    tasks:
      tasks.length > 0
        ? fromBacklog(source, times)
        : state.steps.items.map((step) => fromStep(step, source, times)),
    delegates: [...delegatesIn(entries, tasks), ...agentsIn(entries, source.unfinished, times)],
    files,
  }
}

export function workSize({ tasks, state }: Pick<ExportSource, 'tasks' | 'state'>): number {
  return Math.max(tasks.length, countItems(state.steps))
}

function complexityOf(size: number): SessionComplexity {
  return size >= COMPLEX_FROM ? 'complex' : size >= 3 ? 'medium' : 'simple'
}

function fromBacklog({ tasks, state }: ExportSource, times: TrackedWork): readonly ExportedTask[] {
  const ids = new Set(tasks.map((task) => task.id))
  return tasks.map((task) => ({
    id: task.id,
    description: task.title,
    status: statusOf(task, state),
    assignedTo: task.assignee ?? task.proposed,
    parent: task.parent !== undefined && ids.has(task.parent) ? task.parent : null,
    dependencies: task.dependsOn,
    group: task.group ?? null,
    checklist: tasks.length === 1 ? withSteps(task.checklist, state.steps.items) : task.checklist,
    startedAt: timeOrNull(times.startedAt.get(task.id)),
    endedAt: task.status === 'completed' ? timeOrNull(times.endedAt.get(task.id)) : null,
    files: [...(times.files.get(task.id) ?? [])],
  }))
}

function fromStep(step: Step, { state, propose }: ExportSource, times: TrackedWork): ExportedTask {
  const startedStatus = state.status === 'active' ? 'working' : 'paused'
  return {
    id: step.id,
    description: step.text,
    status: ({ done: 'done', todo: 'pending', started: startedStatus } as const)[step.status],
    assignedTo: propose(step.text),
    parent: null,
    dependencies: [],
    group: null,
    checklist: [],
    startedAt: timeOrNull(times.startedAt.get(step.id)),
    endedAt: step.status === 'done' ? timeOrNull(step.changedAt) : null,
    files: [...(times.files.get(step.id) ?? [])],
  }
}

/** session.json has no status for failed: like blocked, it is paused. */
function statusOf(task: BacklogTask, state: SessionState): WorkStatus {
  if (task.status === 'ready') return 'pending'
  if (task.status === 'completed') return 'done'
  if (task.status !== 'in_progress' || state.status !== 'active') return 'paused'
  const isDelegated = state.delegates.items.some(
    (one) => one.task === task.id && one.status === 'running',
  )
  return task.assignee === undefined && !isDelegated ? 'working' : 'delegated'
}

/** A session with one task uses its checklist as steps, so done steps tick the checklist. */
function withSteps(
  checklist: readonly ChecklistItem[],
  steps: readonly Step[],
): readonly ChecklistItem[] {
  const done = new Set(steps.filter((step) => step.status === 'done').map((step) => step.text))
  const items = new Set(checklist.map(({ item }) => item))
  return [
    ...checklist.map(({ item, done: isTicked }) => ({ item, done: isTicked || done.has(item) })),
    ...steps
      .filter((step) => !items.has(step.text))
      .map((step) => ({ item: step.text, done: step.status === 'done' })),
  ]
}

function currentStep(steps: readonly Step[]): CurrentTask {
  const ids = new Set(steps.map((step) => step.id))
  return (started) => started.findLast((id) => ids.has(id))
}

/** A task with a sub-task in progress is not worked on itself; with two in progress the current one is unknown. */
function currentTask(tasks: readonly BacklogTask[]): CurrentTask {
  const [first] = tasks
  if (tasks.length === 1) return () => first!.id
  const byId = new Map(tasks.map((task) => [task.id, task]))
  return (started) => {
    const parents = new Set(started.map((id) => byId.get(id)?.parent))
    const own = started.filter((id) => byId.has(id) && !parents.has(id))
    return own.length === 1 ? own[0] : undefined
  }
}

function delegatesIn(
  entries: readonly RawEntry[],
  tasks: readonly BacklogTask[],
): readonly ExportedDelegate[] {
  const known = new Set(tasks.map((task) => task.id))
  const found = new Map<string, ExportedDelegate>()
  for (const { kind, data } of entries) {
    if (kind !== 'delegate.begun' && kind !== 'delegate.reported') continue
    const id = nonEmptyString(data.delegate)
    if (id === undefined) continue
    const before = found.get(id)
    const task = nonEmptyString(data.task) ?? ''
    const isRunning = kind === 'delegate.begun'
    const ended = data.status === 'ready' || data.status === 'merged' ? 'completed' : 'failed'
    found.set(id, {
      id,
      agent: nonEmptyString(data.as) ?? before?.agent ?? nonEmptyString(data.name) ?? 'agent',
      task: known.has(task) ? task : (before?.task ?? null),
      prompt: nonEmptyString(data.what) ?? before?.prompt ?? '',
      status: isRunning ? 'running' : ended,
      result: isRunning
        ? null
        : (nonEmptyString(data.summary) ?? nonEmptyString(data.because) ?? null),
      group: nonEmptyString(data.group) ?? before?.group ?? null,
    })
  }
  return [...found.values()]
}

/** Each agent once: hooks may report its end more than once. */
function agentsIn(
  entries: readonly RawEntry[],
  unfinished: readonly UnfinishedAgent[],
  times: TrackedWork,
): readonly ExportedDelegate[] {
  const found = new Map<string, ExportedDelegate>()
  for (const { id, kind, data } of entries) {
    if (kind !== 'agent.finished') continue
    const agent = nonEmptyString(data.agent) ?? id
    if (found.has(agent)) continue
    found.set(agent, {
      id: agent,
      agent: nonEmptyString(data.type) ?? 'agent',
      task: times.during.get(id) ?? null,
      prompt: nonEmptyString(data.task) ?? '',
      status: 'completed',
      result: nonEmptyString(data.result) ?? null,
      group: null,
    })
  }
  for (const { id, prompt, isLost } of unfinished) {
    const status = isLost ? 'failed' : 'running'
    if (!found.has(id))
      found.set(id, { id, agent: 'agent', task: null, prompt, status, result: null, group: null })
  }
  return [...found.values()]
}

function timeOrNull(iso: string | undefined): string | null {
  return iso === undefined || Number.isNaN(Date.parse(iso)) ? null : formatToSecond(iso)
}

// No entry names the task a file or agent belongs to; the order of entries shows it.

type TrackedWork = ReturnType<typeof trackWork>
type CurrentTask = (started: readonly string[]) => string | undefined

function trackWork(entries: readonly RawEntry[], current: CurrentTask) {
  const startedAt = new Map<string, string>()
  const endedAt = new Map<string, string>()
  const files = new Map<string, Set<string>>()
  const during = new Map<string, string>()
  let started: readonly string[] = []
  for (const { id, at, kind, data } of entries) {
    const change = statusChange(kind, data)
    if (change !== undefined) {
      started = started.filter((other) => other !== change.of)
      if (change.to === 'started') started = [...started, change.of]
      if (change.to === 'started' && !startedAt.has(change.of)) startedAt.set(change.of, at)
      if (change.to === 'finished') endedAt.set(change.of, nonEmptyString(data.when) ?? at)
      else endedAt.delete(change.of)
      continue
    }
    if (kind !== 'file.changed' && kind !== 'agent.finished') continue
    const of = current(started)
    if (of === undefined) continue
    during.set(id, of)
    if (kind !== 'file.changed' || typeof data.path !== 'string') continue
    files.set(of, (files.get(of) ?? new Set()).add(data.path))
  }
  return { startedAt, endedAt, files, during }
}

const STATUS_CHANGES: ReadonlyMap<string, 'started' | 'finished' | 'stopped'> = new Map([
  ['step.started', 'started'],
  ['step.done', 'finished'],
  ['step.stopped', 'stopped'],
  ['step.reopened', 'stopped'],
  ['step.dropped', 'stopped'],
  ['task.moved in_progress', 'started'],
  ['task.moved completed', 'finished'],
])

function statusChange(kind: string, { task, step, status }: RawEntry['data']) {
  if (kind === 'task.moved' && typeof task === 'string')
    return { of: task, to: STATUS_CHANGES.get(`${kind} ${String(status)}`) ?? 'stopped' }
  const to = STATUS_CHANGES.get(kind)
  return to === undefined || typeof step !== 'string' ? undefined : { of: step, to }
}

export const EXPORT_FORMATS = ['json', 'toon', 'markdown', 'session-json', 'workflow-log'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]
