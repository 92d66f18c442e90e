import { encode } from '@toon-format/toon'
import { type PublicList, type PublicSession, publicSession } from '../session/public-session.ts'
import type { Decision, Discovery, SessionState, Step } from '../session/state.ts'
import { type Workflow, currentLeaf, currentFocus } from '../session/kinds/phases.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'

export function renderStateJson(state: SessionState): string {
  return `${JSON.stringify(publicSession(state), undefined, 2)}\n`
}

export function renderStateToon(state: SessionState): string {
  return `${encode(summarizeSession(publicSession(state)))}\n`
}

const OPEN_STEPS = 12
const DONE_STEPS = 3
const LINES = 10
const CHARACTERS = 200

/** Does not grow with the session: a part of each list, and the number left out. */
export function summarizeSession(session: PublicSession) {
  const { counts, openBlockers: blockers, workflow } = session
  const steps = stepsShown(session)
  const pinned = session.key.items.filter((line) => line.from === undefined)
  const leftOut = Object.entries({
    steps: counts.steps - steps.length,
    pinned: pinned.length - latest(pinned).length,
    decisions: missing(session.decisions),
    discoveries: missing(session.discoveries),
    blockers: blockers.length - latest(blockers).length,
    next: Math.max(0, count(session.next) - LINES),
    delegates: missing(session.delegates),
  }).filter(([, number]) => number > 0)
  const { delegates } = session
  return {
    session: {
      id: session.id,
      name: session.name,
      status: session.status,
      goal: brief(session.goal),
      branch: session.git.branch ?? '',
      commit: (session.commit ?? '').slice(0, 7),
      compactions: session.compactions,
      progress: `${counts.stepsDone}/${counts.steps}`,
      current: brief(session.currentStep?.text ?? ''),
    },
    ...defined({ workflow: workflow && workflowSummary(workflow) }),
    tldr: brief(session.tldr, CHARACTERS * 4),
    tasks: [...session.tasks],
    steps: steps.map(({ text, status }) => ({ text: brief(text), status })),
    // A line drawn from a decision or discovery would repeat it.
    key: latest(pinned).map(({ text }) => brief(text)),
    decisions: latest(session.decisions.items).map(decided),
    discoveries: latest(session.discoveries.items).map(found),
    blockers: latest(blockers).map(({ text }) => brief(text)),
    next: session.next.items.slice(0, LINES).map(({ text }) => brief(text)),
    ...(delegates.items.length === 0 ? {} : { delegates: latest(delegates.items).map(delegated) }),
    counts: {
      entries: counts.entries,
      checkpoints: count(session.checkpoints),
      files: count(session.changedFiles),
    },
    ...(leftOut.length === 0 ? {} : { leftOut: Object.fromEntries(leftOut) }),
  }
}

function stepsShown({ steps: { items }, currentStep: current }: PublicSession): readonly Step[] {
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

function delegated(delegate: PublicSession['delegates']['items'][number]) {
  const { name, status, what, summary, because } = delegate
  return { name: brief(name), status, what: brief(what), outcome: brief(summary ?? because ?? '') }
}

function found(discovery: Discovery): string {
  return brief(discovery.gotcha ? `Gotcha: ${discovery.text}` : discovery.text)
}

function latest<T>(items: readonly T[]): readonly T[] {
  return items.slice(-LINES)
}

function count({ earlier, items }: PublicList<unknown>): number {
  return earlier + items.length
}

function missing(list: PublicList<unknown>): number {
  return count(list) - latest(list.items).length
}

// Views are written on every command, and a text may be a megabyte: only what is shown is cleaned.
function brief(text: string, characters = CHARACTERS): string {
  return shorten(oneLine(text.slice(0, characters * 4)), characters)
}

function workflowSummary(workflow: Workflow) {
  const { leaf: place } = currentLeaf(workflow)
  return {
    phase: place.id,
    name: brief(place.name),
    status: place.status,
    percent: workflow.percent,
    focus: brief(currentFocus({ workflow }) ?? ''),
    deliverables: latest(workflow.deliverables).map(({ path }) => brief(path)),
  }
}
