import type { ChecklistItem, TaskStatus } from '../../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import { type SessionState, type Step, countItems } from '../../session/state.ts'
import { second } from '../../text/times.ts'
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
  const times = workedOn(entries, current)
  return {
    id: `${second(state.createdAt).slice(0, 10)}_${state.name}`,
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

function fromBacklog({ tasks, state }: ExportSource, times: WorkedOn): readonly ExportedTask[] {
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

function fromStep(step: Step, { state, propose }: ExportSource, times: WorkedOn): ExportedTask {
  const begun = state.status === 'active' ? 'working' : 'paused'
  return {
    id: step.id,
    description: step.text,
    status: ({ done: 'done', todo: 'pending', started: begun } as const)[step.status],
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

/** session.json has no word for failed: like blocked, it waits for somebody. */
function statusOf(task: BacklogTask, state: SessionState): WorkStatus {
  if (task.status === 'ready') return 'pending'
  if (task.status === 'completed') return 'done'
  if (task.status !== 'in_progress' || state.status !== 'active') return 'paused'
  const isDelegated = state.delegates.items.some(
    (one) => one.task === task.id && one.status === 'running',
  )
  return task.assignee === undefined && !isDelegated ? 'working' : 'delegated'
}

/** A session of one task takes that task's checklist for its steps, and ticks them there. */
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

function currentStep(steps: readonly Step[]): Current {
  const ids = new Set(steps.map((step) => step.id))
  return (begun) => begun.findLast((id) => ids.has(id))
}

/** A task whose part is in progress is not worked on itself; with two in progress, it is unknown which. */
function currentTask(tasks: readonly BacklogTask[]): Current {
  const [first] = tasks
  if (tasks.length === 1) return () => first!.id
  const byId = new Map(tasks.map((task) => [task.id, task]))
  return (begun) => {
    const parents = new Set(begun.map((id) => byId.get(id)?.parent))
    const own = begun.filter((id) => byId.has(id) && !parents.has(id))
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
    const id = text(data.delegate)
    if (id === undefined) continue
    const before = found.get(id)
    const task = text(data.task) ?? ''
    const isRunning = kind === 'delegate.begun'
    const ended = data.status === 'ready' || data.status === 'merged' ? 'completed' : 'failed'
    found.set(id, {
      id,
      agent: text(data.as) ?? before?.agent ?? text(data.name) ?? 'agent',
      task: known.has(task) ? task : (before?.task ?? null),
      prompt: text(data.what) ?? before?.prompt ?? '',
      status: isRunning ? 'running' : ended,
      result: isRunning ? null : (text(data.summary) ?? text(data.because) ?? null),
      group: text(data.group) ?? before?.group ?? null,
    })
  }
  return [...found.values()]
}

/** Each agent once: hooks report its end in more than one way. */
function agentsIn(
  entries: readonly RawEntry[],
  unfinished: readonly UnfinishedAgent[],
  times: WorkedOn,
): readonly ExportedDelegate[] {
  const found = new Map<string, ExportedDelegate>()
  for (const { id, kind, data } of entries) {
    if (kind !== 'agent.finished') continue
    const agent = text(data.agent) ?? id
    if (found.has(agent)) continue
    found.set(agent, {
      id: agent,
      agent: text(data.type) ?? 'agent',
      task: times.during.get(id) ?? null,
      prompt: text(data.task) ?? '',
      status: 'completed',
      result: text(data.result) ?? null,
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

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function timeOrNull(iso: string | undefined): string | null {
  return iso === undefined || Number.isNaN(Date.parse(iso)) ? null : second(iso)
}

// No entry names the task a file or agent belongs to; the order of entries shows it.

type WorkedOn = ReturnType<typeof workedOn>
type Current = (begun: readonly string[]) => string | undefined

function workedOn(entries: readonly RawEntry[], current: Current) {
  const startedAt = new Map<string, string>()
  const endedAt = new Map<string, string>()
  const files = new Map<string, Set<string>>()
  const during = new Map<string, string>()
  let begun: readonly string[] = []
  for (const { id, at, kind, data } of entries) {
    const move = moveOf(kind, data)
    if (move !== undefined) {
      begun = begun.filter((other) => other !== move.of)
      if (move.to === 'begun') begun = [...begun, move.of]
      if (move.to === 'begun' && !startedAt.has(move.of)) startedAt.set(move.of, at)
      if (move.to === 'finished') endedAt.set(move.of, text(data.when) ?? at)
      else endedAt.delete(move.of)
      continue
    }
    if (kind !== 'file.changed' && kind !== 'agent.finished') continue
    const of = current(begun)
    if (of === undefined) continue
    during.set(id, of)
    if (kind !== 'file.changed' || typeof data.path !== 'string') continue
    files.set(of, (files.get(of) ?? new Set()).add(data.path))
  }
  return { startedAt, endedAt, files, during }
}

const MOVES: ReadonlyMap<string, 'begun' | 'finished' | 'set down'> = new Map([
  ['step.started', 'begun'],
  ['step.done', 'finished'],
  ['step.stopped', 'set down'],
  ['step.reopened', 'set down'],
  ['step.dropped', 'set down'],
  ['task.moved in_progress', 'begun'],
  ['task.moved completed', 'finished'],
])

function moveOf(kind: string, { task, step, status }: RawEntry['data']) {
  if (kind === 'task.moved' && typeof task === 'string')
    return { of: task, to: MOVES.get(`${kind} ${String(status)}`) ?? 'set down' }
  const to = MOVES.get(kind)
  return to === undefined || typeof step !== 'string' ? undefined : { of: step, to }
}

export const EXPORT_FORMATS = ['json', 'toon', 'markdown', 'session-json', 'workflow-log'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]
