import { encode } from '@toon-format/toon'
import {
  type Decision,
  type DelegateLine,
  type Discovery,
  type SessionState,
  type Shelf,
  type Step,
  count,
  currentStep,
  openBlockers,
  stepCounts,
} from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { oneLine, shorten } from '../text/clean.ts'

/** Raised when a field of the state file is renamed, moved or goes. One that is added raises nothing. */
export const STATE_FORMAT = { format: 'stint-state', version: 1 } as const

/** The order of the fields in `state.json`. In the state itself it depends on what happened first. */
const ORDER: readonly (keyof SessionState)[] = [
  ...([
    'id',
    'name',
    'title',
    'status',
    'goal',
    'tasks',
    'createdAt',
    'updatedAt',
    'closedAt',
    'closeReason',
  ] as const),
  ...([
    'pausedAt',
    'pauseNote',
    'compactions',
    'branch',
    'worktree',
    'openedGit',
    'git',
    'tldr',
    'steps',
    'progress',
  ] as const),
  ...([
    'decisions',
    'discoveries',
    'blockers',
    'next',
    'key',
    'keyFiles',
    'changedFiles',
    'commands',
    'notes',
  ] as const),
  ...([
    'remarks',
    'sections',
    'fields',
    'checkpoints',
    'conversations',
    'requests',
    'commits',
    'tests',
    'agents',
    'delegates',
  ] as const),
  ...(['lastTurn', 'entryCount', 'lastId'] as const),
]
import { type Workflow, currentPlace, focusOf } from '../session/kinds/phases.ts'

/** `state.json`: the whole state, for programs. */
export function renderStateJson(state: SessionState): string {
  return `${JSON.stringify(stateData(state), undefined, 2)}\n`
}

/** The whole state in a fixed order. What an event was noticed by is no part of it. */
export function stateData(state: SessionState): Readonly<Record<string, unknown>> {
  const { once: _once, ...shown } = state
  const others = Object.keys(shown).filter((name) => !ORDER.some((known) => known === name))
  const names = [...ORDER, ...others.toSorted()] as (keyof typeof shown)[]
  return {
    ...STATE_FORMAT,
    ...Object.fromEntries(names.filter((name) => name in shown).map((name) => [name, shown[name]])),
  }
}

/** `state.toon`: the summary in few tokens, for models. */
export function renderStateToon(state: SessionState): string {
  return `${encode(summaryOf(state))}\n`
}

const OPEN_STEPS = 12
const DONE_STEPS = 3
const LINES = 10
const CHARACTERS = 200

/**
 * What a successor has to know, as plain data. It does not grow with the session: of each list the part
 * that says where things stand, and how much was left out of it.
 */
export function summaryOf(state: SessionState) {
  const { done, total } = stepCounts(state)
  const steps = stepsShown(state)
  const pinned = state.key.items.filter((line) => line.from === undefined)
  const blockers = openBlockers(state)
  const leftOut = {
    steps: total - steps.length,
    pinned: pinned.length - latest(pinned).length,
    decisions: missing(state.decisions),
    discoveries: missing(state.discoveries),
    blockers: blockers.length - latest(blockers).length,
    next: Math.max(0, count(state.next) - LINES),
    delegates: missing(state.delegates),
  }
  const left = Object.entries(leftOut).filter(([, number]) => number > 0)
  return {
    session: {
      id: state.id,
      name: state.name,
      status: state.status,
      goal: brief(state.goal),
      branch: state.git.branch ?? '',
      commit: (state.git.commit ?? '').slice(0, 7),
      compactions: state.compactions,
      progress: `${done}/${total}`,
      current: brief(currentStep(state)?.text ?? ''),
    },
    ...(state.workflow === undefined ? {} : { workflow: workflowSummary(state, state.workflow) }),
    tldr: brief(tldrOf(state), CHARACTERS * 4),
    tasks: [...state.tasks],
    steps: steps.map(({ text, status }) => ({ text: brief(text), status })),
    // A line drawn from a decision or a discovery would say it a second time.
    key: latest(pinned).map(({ text }) => brief(text)),
    decisions: latest(state.decisions.items).map(decided),
    discoveries: latest(state.discoveries.items).map(found),
    blockers: latest(blockers).map(({ text }) => brief(text)),
    next: state.next.items.slice(0, LINES).map(({ text }) => brief(text)),
    ...(state.delegates.items.length === 0
      ? {}
      : { delegates: latest(state.delegates.items).map(delegated) }),
    counts: {
      entries: state.entryCount,
      checkpoints: count(state.checkpoints),
      files: count(state.changedFiles),
    },
    ...(left.length === 0 ? {} : { left_out: Object.fromEntries(left) }),
  }
}

/** The open steps that come first, the current one among them, behind the last ones that were done. */
function stepsShown(state: SessionState): readonly Step[] {
  const { items } = state.steps
  const current = currentStep(state)
  const open = items.filter((step) => step.status !== 'done')
  const shown = new Set([
    ...items.filter((step) => step.status === 'done').slice(-DONE_STEPS),
    ...open.slice(0, OPEN_STEPS),
    ...(current === undefined ? [] : [current]),
  ])
  return items.filter((step) => shown.has(step))
}

function decided(decision: Decision) {
  const { choice = '', rationale = '' } = decision
  return {
    title: brief(decision.text),
    choice: choice === decision.text ? '' : brief(choice),
    rationale: brief(rationale),
  }
}

function delegated(line: DelegateLine) {
  const { name, status, text, summary, because } = line
  return { name: brief(name), status, what: brief(text), outcome: brief(summary ?? because ?? '') }
}

function found(discovery: Discovery): string {
  return brief(discovery.gotcha ? `Gotcha: ${discovery.text}` : discovery.text)
}

function latest<T>(items: readonly T[]): readonly T[] {
  return items.slice(-LINES)
}

function missing(shelf: Shelf<unknown>): number {
  return count(shelf) - latest(shelf.items).length
}

// Views are written on every command, and a text may be a megabyte: no more of it is cleaned than is shown.
function brief(text: string, characters = CHARACTERS): string {
  return shorten(oneLine(text.slice(0, characters * 4)), characters)
}

function workflowSummary(state: SessionState, workflow: Workflow) {
  const { place } = currentPlace(workflow)
  return {
    phase: place.id,
    name: brief(place.name),
    status: place.status,
    percent: workflow.percent,
    focus: brief(focusOf(state) ?? ''),
    deliverables: latest(workflow.deliverables).map(({ path }) => brief(path)),
  }
}
