import { encode } from '@toon-format/toon'
import { type SessionState, count, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'

/** `state.json`: the whole state, for programs. */
export function renderStateJson(state: SessionState): string {
  const { once: _once, ...shown } = state
  return `${JSON.stringify(shown, undefined, 2)}\n`
}

/** `state.toon`: the summary in few tokens, for models. */
export function renderStateToon(state: SessionState): string {
  return `${encode(summaryOf(state))}\n`
}

/** What a successor has to know, as plain data. */
export function summaryOf(state: SessionState) {
  const { done, total } = stepCounts(state)
  return {
    session: {
      id: state.id,
      name: state.name,
      status: state.status,
      goal: state.goal,
      branch: state.git.branch ?? '',
      commit: (state.git.commit ?? '').slice(0, 7),
      compactions: state.compactions,
      progress: `${done}/${total}`,
      current: currentStep(state)?.text ?? '',
    },
    tldr: tldrOf(state),
    tasks: [...state.tasks],
    steps: state.steps.items.map(({ text, status }) => ({ text, status })),
    key: state.key.items.map(({ text }) => text),
    decisions: state.decisions.items.map((decision) => ({
      title: decision.text,
      choice: decision.choice ?? decision.text,
      rationale: decision.rationale ?? '',
    })),
    discoveries: state.discoveries.items.map(({ text }) => text),
    blockers: openBlockers(state).map(({ text }) => text),
    next: state.next.items.map(({ text }) => text),
    counts: { entries: state.entryCount, checkpoints: count(state.checkpoints), files: count(state.changedFiles) },
  }
}
