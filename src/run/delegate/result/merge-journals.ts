// When a delegate's work is on its target, what it learned goes into its parent's journal, and the task closes in the same write.
import { runGit, GitFailed } from '../../../git/run-git.ts'
import { type Draft, draft } from '../../../session/entries.ts'
import { inEffect } from '../../../session/in-effect.ts'
import { openBlockers } from '../../../session/state.ts'
import { appendToBacklog, refreshTasks } from '../../../project/tasks/backlog.ts'
import type { Reading } from '../../../project/store/live-session.ts'
import type { Workspace } from '../../../project/store/workspace.ts'
import { repositoryOf } from '../../../project/store/worktrees.ts'
import type { DelegateState } from '../delegate-state.ts'
import { changedFiles } from './changed-files.ts'
import { appendOnce, withJournal } from './journal-of-parent.ts'
import { reportDraft } from './tell-parent.ts'
import { defined } from '../../../text/defined.ts'

const BY = 'delegate'

export interface Landed {
  /** What the target was moved to. */
  readonly commit: string
  readonly target: string
}

/**
 * Tells the parent's journal all that is to be kept of a merged delegate, or the delegate's own last session when it has no parent. Done
 * again, after a crash, it changes nothing.
 */
export async function mergeJournals(
  workspace: Workspace,
  state: DelegateState,
  landed: Landed,
): Promise<void> {
  const sessions = state.run.sessions.map(({ session }) => session)
  const readings = await readAll(workspace, sessions)
  const deliverables = [
    ...new Set([
      ...(state.order.output === undefined ? [] : [state.order.output]),
      ...deliverablesOf(readings),
    ]),
  ]
  const told = [
    commitDraft(workspace, landed.commit, state.order.name),
    reportDraft(workspace, state, 'merged', {
      commit: landed.commit,
      ...(deliverables.length === 0 ? {} : { deliverables }),
    }),
    ...taskDrafts(state, landed),
  ]
  const copies = [
    ...readings.flatMap((reading) => learned(reading, state.order.name)),
    ...changedFiles(workspace, state, { isMerged: true }).map((path) =>
      draft('file.changed', { path }, { by: BY, once: `delegate:${state.id}:file:${path}` }),
    ),
    ...deliverables.map((path) =>
      draft(
        'deliverable.set',
        { path },
        { by: BY, once: `delegate:${state.id}:deliverable:${path}` },
      ),
    ),
  ]
  const isTold =
    (await appended(workspace, state.order.parent, [...copies, ...told])) ||
    // What it learned is there already.
    (await appended(workspace, sessions.at(-1), told))
  if (!isTold) appendToBacklog(workspace, taskDrafts(state, landed))
  await refreshTasks(workspace, state.order.task === undefined ? [] : [state.order.task])
}

/** Whether there was a journal to append to. */
async function appended(
  workspace: Workspace,
  session: string | undefined,
  drafts: readonly Draft[],
): Promise<boolean> {
  const done = await withJournal(workspace, session, async (journal) => {
    await appendOnce(workspace, journal, drafts)
    return true
  })
  return done === true
}

async function readAll(
  workspace: Workspace,
  sessions: readonly string[],
): Promise<readonly Reading[]> {
  const readings: Reading[] = []
  for (const id of sessions) {
    const reading = await withJournal(workspace, id, async (session) => session.read())
    if (reading !== undefined) readings.push(reading)
  }
  return readings
}

/** Copies of what is true beyond the delegate's own work. Each says whose it is, and is known by the entry it is a copy of. */
function learned({ state }: Reading, name: string): readonly Draft[] {
  const copy = (id: string) => ({ by: BY, once: `copy:${id}` })
  return [
    ...state.decisions.items.map(
      ({ id, at, text, context, options, choice, rationale, whose = name }) =>
        draft(
          'decision.made',
          { title: text, ...present({ context, options, choice, rationale }), when: at, whose },
          copy(id),
        ),
    ),
    ...state.discoveries.items.map(({ id, at, text, gotcha, whose = name }) =>
      draft(gotcha ? 'gotcha.found' : 'discovery.made', { text, when: at, whose }, copy(id)),
    ),
    ...openBlockers(state).map(({ id, at, text, whose = name }) =>
      draft('blocker.raised', { text, when: at, whose }, copy(id)),
    ),
  ]
}

function present(
  fields: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** A session that follows no template folds none, but its journal has them. */
function deliverablesOf(readings: readonly Reading[]): readonly string[] {
  const paths = new Set<string>()
  for (const { entries } of readings) {
    for (const { kind, data } of inEffect(entries)) {
      if (typeof data.path !== 'string' || data.path === '') continue
      if (kind === 'deliverable.set') paths.add(data.path)
      if (kind === 'deliverable.dropped') paths.delete(data.path)
    }
  }
  return [...paths]
}

function commitDraft(workspace: Workspace, commit: string, name: string): Draft {
  return draft(
    'commit.made',
    { commit, subject: subjectOf(workspace, commit) ?? `merge ${name}` },
    { by: BY, once: `commit:${commit}` },
  )
}

function subjectOf(workspace: Workspace, commit: string): string | undefined {
  try {
    return (
      runGit(repositoryOf(workspace.place).worktree, [
        'log',
        '-1',
        '--format=%s',
        commit,
        '--',
      ]).trim() || undefined
    )
  } catch (error) {
    if (error instanceof GitFailed) return undefined
    throw error
  }
}

/** Written by the run that proved it, as runs close tasks: nobody else's word counts. */
function taskDrafts(
  { id, move, order, ready }: DelegateState,
  { commit, target }: Landed,
): readonly Draft[] {
  if (order.task === undefined) return []
  const summary = ready?.summary ?? move?.summary
  return [
    draft(
      'task.moved',
      {
        task: order.task,
        status: 'completed',
        ...defined({ summary }),
        git: { branch: target, commit },
        whose: order.name,
      },
      { by: 'run', once: `delegate:${id}:done:${order.task}` },
    ),
  ]
}
