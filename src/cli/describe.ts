// The words that several commands share.
import {
  type SessionState,
  count,
  currentStep,
  openBlockers,
  stepCounts,
} from '../session/state.ts'
import { shortId } from '../journal/ids.ts'
import { tldrOf } from '../session/tldr.ts'
import { phaseLine } from '../session/kinds/phases.ts'
import type { RawEntry } from '../session/in-effect.ts'
import { lineOf } from '../session/registry.ts'
import { shorten } from '../text/clean.ts'
import { minute } from '../text/times.ts'

/** What `--json` says of a session. */
export function sessionJson(state: SessionState) {
  const { done, total } = stepCounts(state)
  return {
    id: state.id,
    name: state.name,
    title: state.title,
    status: state.status,
    goal: state.goal,
    tldr: tldrOf(state),
    branch: state.git.branch,
    commit: state.git.commit,
    worktree: state.worktree,
    tasks: state.tasks,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
    compaction_count: state.compactions,
    progress: { done, total },
    current: currentStep(state)?.text,
    blockers: openBlockers(state).map((blocker) => blocker.text),
    next: state.next.items.map((item) => item.text),
    counts: {
      entries: state.entryCount,
      decisions: count(state.decisions),
      discoveries: count(state.discoveries),
      checkpoints: count(state.checkpoints),
    },
  }
}

export function progressLine(state: SessionState): string {
  const { done, total } = stepCounts(state)
  return `${done}/${total} steps`
}

/** TL;DR, progress, current step and blockers, as a resuming reader needs them. */
export function standing(state: SessionState): readonly string[] {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const blockers = openBlockers(state)
  const phase = phaseLine(state)
  return [
    tldrOf(state),
    '',
    ...(phase === undefined ? [] : [`Workflow: ${phase}`]),
    `Progress: ${done}/${total} steps complete`,
    `Current: ${current?.text ?? 'None'}`,
    `Blocker: ${blockers.length === 0 ? 'None' : blockers.map((blocker) => blocker.text).join('; ')}`,
  ]
}

/** `2025-01-15T10:30  a1b2c3  text` */
export function entryLine(entry: RawEntry, all: readonly RawEntry[]): string {
  const line = lineOf(entry, (id) => all.find((other) => other.id === id))
  const text = shorten(line.split('\n').join(' '), 100)
  return `${minute(entry.at)}  ${shortId(entry.id)}  ${entry.kind.padEnd(18)}  ${text}`.trimEnd()
}
