import { encode } from '@toon-format/toon'
import { type PublicList, type PublicSession, publicSession } from '../session/public-session.ts'
import {
  type Decision,
  type Discovery,
  type SessionState,
  type Step,
  countItems,
} from '../session/state.ts'
import { type Workflow, currentLeaf, currentFocus } from '../session/kinds/phases.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'

export function renderStateJson(state: SessionState): string {
  return `${JSON.stringify(publicSession(state), undefined, 2)}\n`
}

export function renderStateToon(state: SessionState): string {
  return `${encode(summarizeSession(publicSession(state)))}\n`
}

const MAX_OPEN_STEPS = 12
const MAX_DONE_STEPS = 3
const MAX_LINES = 10
const MAX_CHARACTERS = 200

/** Does not grow with the session: a part of each list, and the number left out. */
export function summarizeSession(session: PublicSession) {
  const { counts, openBlockers: blockers, workflow } = session
  const steps = stepsShown(session)
  const pinned = session.key.items.filter((line) => line.from === undefined)
  const leftOut = Object.entries({
    steps: counts.steps - steps.length,
    pinned: pinned.length - latest(pinned).length,
    decisions: leftOutCount(session.decisions),
    discoveries: leftOutCount(session.discoveries),
    blockers: blockers.length - latest(blockers).length,
    next: Math.max(0, countItems(session.next) - MAX_LINES),
    delegates: leftOutCount(session.delegates),
  }).filter(([, number]) => number > 0)
  const { delegates } = session
  return {
    session: {
      id: session.id,
      name: session.name,
      status: session.status,
      goal: shortLine(session.goal),
      branch: session.git.branch ?? '',
      commit: (session.commit ?? '').slice(0, 7),
      compactions: session.compactions,
      progress: `${counts.stepsDone}/${counts.steps}`,
      current: shortLine(session.currentStep?.text ?? ''),
    },
    ...defined({ workflow: workflow && workflowSummary(workflow) }),
    tldr: shortLine(session.tldr, MAX_CHARACTERS * 4),
    tasks: [...session.tasks],
    steps: steps.map(({ text, status }) => ({ text: shortLine(text), status })),
    // A line derived from a decision or discovery would repeat it.
    key: latest(pinned).map(({ text }) => shortLine(text)),
    decisions: latest(session.decisions.items).map(decisionSummary),
    discoveries: latest(session.discoveries.items).map(discoveryLine),
    blockers: latest(blockers).map(({ text }) => shortLine(text)),
    next: session.next.items.slice(0, MAX_LINES).map(({ text }) => shortLine(text)),
    ...(delegates.items.length === 0
      ? {}
      : { delegates: latest(delegates.items).map(delegateSummary) }),
    counts: {
      entries: counts.entries,
      checkpoints: countItems(session.checkpoints),
      files: countItems(session.changedFiles),
    },
    ...(leftOut.length === 0 ? {} : { leftOut: Object.fromEntries(leftOut) }),
  }
}

function stepsShown({ steps: { items }, currentStep: current }: PublicSession): readonly Step[] {
  const open = items.filter((step) => step.status !== 'done')
  const shown = new Set([
    ...items.filter((step) => step.status === 'done').slice(-MAX_DONE_STEPS),
    ...open.slice(0, MAX_OPEN_STEPS),
    ...(current === undefined ? [] : [current]),
  ])
  return items.filter((step) => shown.has(step))
}

function decisionSummary(decision: Decision) {
  const { choice = '', rationale = '' } = decision
  return {
    title: shortLine(decision.text),
    choice: choice === decision.text ? '' : shortLine(choice),
    rationale: shortLine(rationale),
  }
}

function delegateSummary(delegate: PublicSession['delegates']['items'][number]) {
  const { name, status, what, summary, because } = delegate
  return {
    name: shortLine(name),
    status,
    what: shortLine(what),
    outcome: shortLine(summary ?? because ?? ''),
  }
}

function discoveryLine(discovery: Discovery): string {
  return shortLine(discovery.gotcha ? `Gotcha: ${discovery.text}` : discovery.text)
}

function latest<T>(items: readonly T[]): readonly T[] {
  return items.slice(-MAX_LINES)
}

function leftOutCount(list: PublicList<unknown>): number {
  return countItems(list) - latest(list.items).length
}

// Views are written on every command, and a text may be a megabyte: only what is shown is cleaned.
function shortLine(text: string, characters = MAX_CHARACTERS): string {
  return shorten(oneLine(text.slice(0, characters * 4)), characters)
}

function workflowSummary(workflow: Workflow) {
  const { leaf } = currentLeaf(workflow)
  return {
    phase: leaf.id,
    name: shortLine(leaf.name),
    status: leaf.status,
    percent: workflow.percent,
    focus: shortLine(currentFocus({ workflow }) ?? ''),
    deliverables: latest(workflow.deliverables).map(({ path }) => shortLine(path)),
  }
}
