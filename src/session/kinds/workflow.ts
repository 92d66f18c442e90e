// Every entry is applied to the workflow at its position in id order, so merged copies fold alike.
import { defined } from '../../text/defined.ts'
import { type Folds, type Kinds, type MutableState, outdatesWrittenTldr } from './kind.ts'
import {
  type Phase,
  type PhaseStatus,
  type SubPhase,
  type Workflow,
  type WorkflowState,
  leafIndex,
  isApproved,
  leafPhases,
} from './phases.ts'
import { type GitState, fields, nonEmptyString, str } from './read-fields.ts'

export interface WorkflowData {
  'workflow.begun': { workflow: string; name: string; template: WorkflowTemplate }
  'phase.entered': { phase: string; note?: string; git?: GitState }
  /** Waiting for approval, or the last phase. */
  'phase.finished': { phase: string; note?: string; git?: GitState }
  /** `said` holds the person's words, passed on by an agent. */
  'phase.approved': { phase: string; note?: string; said?: string }
  /** Holds until another phase is entered; an empty text clears it. */
  'focus.set': { text: string }
  'deliverable.set': { path: string; phase?: string }
  'deliverable.dropped': { path: string }
}

/** A copy from when the workflow was begun: later versions of the template change nothing. */
export interface WorkflowTemplate {
  readonly name: string
  readonly phases: readonly TemplatePhase[]
}

export interface TemplateSubPhase {
  readonly id: string
  readonly name: string
  readonly focus?: string
  readonly deliverables?: readonly string[]
}

export interface TemplatePhase extends TemplateSubPhase {
  readonly gate?: 'approval' | 'none'
  /** The typical range. */
  readonly tokens?: readonly [number, number]
  readonly conversation?: string
  readonly subPhases?: readonly TemplateSubPhase[]
}

interface NamedSession {
  readonly name: string
  readonly title: string
}

/** Bounds the size of a snapshot. */
export const MAX_PHASES = 60
export const MAX_DELIVERABLES = 200
const MAX_TOKENS = 1e12

export const fold: Folds<WorkflowData, WorkflowState & NamedSession> = {
  // When two machines begin at once, the first holds.
  'workflow.begun': outdatesWrittenTldr((state, data, { at }) => {
    if (state.workflow !== undefined) return
    const template = asRecord(data.template)
    const phases = phasesIn(template.phases)
    const first = leafPhases(phases)[0]?.leaf.id
    if (first === undefined) return
    const initial: Workflow = {
      id: state.name,
      name: state.title,
      templateName: str(template.name),
      phases,
      current: '',
      percent: 0,
      deliverables: deliverablesIn(template.phases, at),
      approvals: [],
    }
    state.workflow = enter(initial, first, at)
  }),
  'phase.entered': {
    outdatesTldr: true,
    bindsBranch: false,
    apply(state, data, entry) {
      updateWorkflow(state, (workflow) => enter(workflow, str(data.phase), entry.at))
    },
  },
  'phase.finished': {
    outdatesTldr: true,
    bindsBranch: false,
    apply(state, data, entry) {
      updateWorkflow(state, (workflow) => {
        const here = leafPhases(workflow.phases)[leafIndex(workflow.phases, workflow.current)]
        if (
          here?.phase.id !== data.phase ||
          !here?.isLastOfPhase ||
          here.phase.finishedAt !== undefined
        )
          return workflow
        const phases = workflow.phases.map((phase) =>
          phase.id === data.phase ? { ...phase, finishedAt: entry.at } : phase,
        )
        return withStatuses({ ...workflow, phases })
      })
    },
  },
  'phase.approved': outdatesWrittenTldr((state, data, { at }) => {
    const id = str(data.phase)
    updateWorkflow(state, (workflow) => {
      const last = leafPhases(workflow.phases).findLastIndex(({ phase }) => phase.id === id)
      const isReached = last !== -1 && last <= leafIndex(workflow.phases, workflow.current)
      // A later phase was approved before the workflow went back, and must be approved again.
      if (!isReached || isApproved(workflow, id)) return workflow
      const approval = { phase: id, at, ...fields(data, 'note', 'said') }
      return withStatuses({ ...workflow, approvals: [...workflow.approvals, approval] })
    })
  }),
  'focus.set': outdatesWrittenTldr((state, data) =>
    updateWorkflow(state, ({ focus: _before, ...workflow }) => ({
      ...workflow,
      ...fields({ focus: data.text }, 'focus'),
    })),
  ),
  'deliverable.set': outdatesWrittenTldr((state, data, { at }) => {
    const path = str(data.path)
    updateWorkflow(state, (workflow) => {
      const others = workflow.deliverables.filter((known) => known.path !== path)
      if (path === '' || others.length >= MAX_DELIVERABLES) return workflow
      return { ...workflow, deliverables: [...others, { path, at, ...fields(data, 'phase') }] }
    })
  }),
  'deliverable.dropped': outdatesWrittenTldr((state, data) =>
    updateWorkflow(state, (workflow) => ({
      ...workflow,
      deliverables: workflow.deliverables.filter((known) => known.path !== data.path),
    })),
  ),
}

export const kinds = (): Kinds<WorkflowData, WorkflowState> => {
  const usual = { group: 'tasks', writers: [], amendable: [], about: 'work' } as const
  const phase = { ...usual, prose: ['note'], line: ['phase', 'note'] } as const
  return {
    'workflow.begun': { ...usual, prose: ['workflow', 'name'], line: ['name'] },
    'phase.entered': phase,
    'phase.finished': phase,
    'phase.approved': { ...phase, prose: ['note', 'said'] },
    'focus.set': { ...usual, prose: ['text'] },
    'deliverable.set': { ...usual, prose: ['path'], line: ['path', 'phase'] },
    'deliverable.dropped': { ...usual, prose: ['path'] },
  }
}

export function syncWorkflowName(state: MutableState<WorkflowState & NamedSession>): void {
  if (state.workflow !== undefined)
    state.workflow = { ...state.workflow, id: state.name, name: state.title }
}

function updateWorkflow(
  state: MutableState<WorkflowState>,
  update: (workflow: Workflow) => Workflow,
): void {
  if (state.workflow !== undefined) state.workflow = update(state.workflow)
}

/** Phases after the target must be done and approved again. */
function enter(workflow: Workflow, id: string, at: string): Workflow {
  const leaves = leafPhases(workflow.phases)
  const from = leafIndex(workflow.phases, workflow.current)
  const target = leafIndex(workflow.phases, id)
  if (target === -1 || (target === from && leaves[target]!.phase.status === 'current'))
    return workflow
  const reopened = new Set(leaves.slice(target).map(({ phase }) => phase.id))
  let index = -1
  const visit = <T extends SubPhase>(leaf: T): T => {
    index += 1
    if (index < target) return index === from ? { ...leaf, leftAt: at } : leaf
    const { enteredAt: _entered, leftAt: _left, ...untouched } = leaf
    return (index === target ? { ...untouched, enteredAt: at } : untouched) as T
  }
  const phases = workflow.phases.map((phase): Phase => {
    const visited =
      phase.subPhases.length === 0
        ? visit(phase)
        : { ...phase, subPhases: phase.subPhases.map(visit) }
    const { finishedAt: _finished, ...open } = visited
    return reopened.has(phase.id) ? open : visited
  })
  const approvals = workflow.approvals.filter(({ phase }) => !reopened.has(phase))
  const { focus: _before, ...others } = workflow
  return withStatuses({ ...others, phases, approvals, current: leaves[target]!.leaf.id })
}

function withStatuses(workflow: Workflow): Workflow {
  const current = leafIndex(workflow.phases, workflow.current)
  let index = -1
  const phases = workflow.phases.map((phase): Phase => {
    const first = index + 1
    const isDone =
      isApproved(workflow, phase.id) || (phase.finishedAt !== undefined && phase.gate === 'none')
    const here: PhaseStatus = isDone
      ? 'done'
      : phase.finishedAt === undefined
        ? 'current'
        : 'waiting for approval'
    const statusOf = (leaf: SubPhase): PhaseStatus => {
      index += 1
      if (index > current) return 'pending'
      return index === current ? here : passedStatus([leaf])
    }
    if (phase.subPhases.length === 0) return { ...phase, status: statusOf(phase) }
    const subPhases = phase.subPhases.map((leaf) => ({ ...leaf, status: statusOf(leaf) }))
    const status = current < first ? 'pending' : current <= index ? here : passedStatus(subPhases)
    return { ...phase, subPhases, status }
  })
  return { ...workflow, phases, percent: percentOf(phases, current) }
}

function passedStatus(leaves: readonly SubPhase[]): PhaseStatus {
  return leaves.some(({ enteredAt }) => enteredAt !== undefined) ? 'done' : 'skipped'
}

/** A phase weighs the middle of its token range, or the average; its sub-phases share that. */
function percentOf(phases: readonly Phase[], current: number): number {
  const stated = phases.flatMap(({ tokens }) =>
    tokens === undefined ? [] : [(tokens[0] + tokens[1]) / 2],
  )
  const usual =
    stated.length === 0 ? 1 : stated.reduce((sum, weight) => sum + weight, 0) / stated.length
  let done = 0
  let all = 0
  for (const [index, { phase, leaf }] of leafPhases(phases).entries()) {
    const phaseWeight = phase.tokens === undefined ? usual : (phase.tokens[0] + phase.tokens[1]) / 2
    const weight = phaseWeight / Math.max(1, phase.subPhases.length)
    all += weight
    if (index < current || (index === current && leaf.status === 'done')) done += weight
  }
  if (phases.at(-1)?.status === 'done') return 100
  return Math.min(99, Math.round((100 * done) / all))
}

function phasesIn(value: unknown): readonly Phase[] {
  const known = new Set<string>()
  const isNew = (id: string) => id !== '' && !known.has(id) && known.add(id).size > 0
  return boundedList(value).flatMap((item): readonly Phase[] => {
    const phase = asRecord(item)
    const id = str(phase.id)
    if (!isNew(id)) return []
    const tokens = tokensIn(phase.tokens)
    const subPhases = boundedList(phase.subPhases)
      .map(asRecord)
      .filter((sub) => isNew(str(sub.id)))
      .map((sub): SubPhase => ({
        id: str(sub.id),
        name: nameOf(sub),
        status: 'pending',
        ...fields(sub, 'focus'),
      }))
    return [
      {
        id,
        name: nameOf(phase),
        status: 'pending',
        gate: phase.gate === 'approval' ? 'approval' : 'none',
        ...fields(phase, 'focus', 'conversation'),
        ...defined({ tokens }),
        subPhases,
      },
    ]
  })
}

function deliverablesIn(value: unknown, at: string): Workflow['deliverables'] {
  const paths = new Map<string, string>()
  for (const phase of boundedList(value).map(asRecord)) {
    for (const leaf of [phase, ...boundedList(phase.subPhases).map(asRecord)]) {
      for (const path of boundedList(leaf.deliverables).map(str))
        if (path !== '' && !paths.has(path)) paths.set(path, str(leaf.id))
    }
  }
  return [...paths]
    .slice(0, MAX_DELIVERABLES)
    .map(([path, phase]) => ({ path, at, ...fields({ phase }, 'phase') }))
}

function nameOf(phase: Readonly<Record<string, unknown>>): string {
  return nonEmptyString(phase.name) ?? str(phase.id)
}

function tokensIn(value: unknown): readonly [number, number] | undefined {
  const [from, to] = boundedList(value)
  const isAmount = (amount: unknown): amount is number =>
    typeof amount === 'number' && amount > 0 && amount <= MAX_TOKENS
  return isAmount(from) && isAmount(to) ? [from, to] : undefined
}

function boundedList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_PHASES) : []
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
