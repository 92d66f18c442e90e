// What a delegate's parent is told: one entry in its journal for each thing that becomes of it.
import { tryGit } from '../../git/run-git.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { isId } from '../../journal/ids.ts'
import type { LiveSession, Reading } from '../../project/store/live-session.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/backlog.ts'
import {
  type DelegateOutcome,
  type Draft,
  type EntryData,
  type Usage,
  draft,
} from '../../session/entries.ts'
import { inEffect } from '../../session/in-effect.ts'
import { openBlockers } from '../../session/state.ts'
import { defined } from '../../text/defined.ts'
import { readRun } from '../run-log.ts'
import { NOTHING, addUsage, totalOf } from '../run-state.ts'
import { type DelegateState, isUnsettled } from './delegates.ts'

const BY = 'delegate'

/** Says in the parent's journal that a delegate works for it, or works again. */
export async function tellBegun(workspace: Workspace, state: DelegateState): Promise<void> {
  const { as, group, name, parent, task, what } = state.order
  const begun = draft(
    'delegate.begun',
    {
      delegate: state.id,
      name,
      what,
      ...defined({ as, task, group }),
      branch: state.run.started.branch,
    },
    { by: BY, once: `delegate:${state.id}:begun:${state.since}` },
  )
  await tell(workspace, parent, begun)
}

/** Says in the parent's journal what became of a delegate. Nothing as long as it is worked on. */
export async function tellParent(workspace: Workspace, state: DelegateState): Promise<void> {
  if (state.status === 'running' || state.status === 'merging') return
  const files = changedFiles(workspace, state, { isMerged: state.status === 'merged' })
  const report = reportDraft(state, state.status, { files })
  await tell(workspace, state.order.parent, report)
}

/** Tells parents what they have not heard, because whoever should have told them was ended before. */
export async function tellMissed(
  workspace: Workspace,
  states: readonly DelegateState[],
): Promise<void> {
  const parents = new Set(states.flatMap(({ order }) => order.parent ?? []))
  for (const parent of parents) {
    const heard = await withJournal(
      workspace,
      parent,
      async (session) => session.open().delegates.items,
    )
    const statusOf = new Map(heard?.map(({ delegate, status }) => [delegate, status]))
    // Of those that are settled a session forgets the oldest.
    const isBehind = (state: DelegateState) =>
      state.order.parent === parent &&
      statusOf.get(state.id) !== state.status &&
      (statusOf.has(state.id) || isUnsettled(state))
    if (heard !== undefined)
      for (const state of states.filter(isBehind)) await tellParent(workspace, state)
  }
}

/** The delegate's own log has it already: where a parent cannot be told, that is only said. */
async function tell(workspace: Workspace, parent: string | undefined, entry: Draft): Promise<void> {
  try {
    await appendOnce(workspace, parent, [entry])
  } catch (error) {
    if (
      !(error instanceof Error) ||
      (!(error instanceof StintError) && errnoOf(error) === undefined)
    )
      throw error
    workspace.say(`what became of a delegate could not be told in its session: ${error.message}`)
  }
}

type Reported = EntryData['delegate.reported']

/** The entry by which a parent learns of it. */
function reportDraft(
  state: DelegateState,
  status: DelegateOutcome,
  { files, ...more }: Pick<Reported, 'commit' | 'deliverables'> & { files: readonly string[] },
): Draft {
  const { id, move, order, ready, run } = state
  const summary = move?.summary ?? ready?.summary
  const usage = usageOf(state)
  return draft(
    'delegate.reported',
    {
      delegate: id,
      name: order.name,
      status,
      what: order.what,
      branch: run.started.branch,
      ...defined({ summary }),
      ...(move?.because === undefined || status === 'merged' ? {} : { because: move.because }),
      ...defined({ commit: move?.commit, report: move?.report }),
      ...(files.length === 0 ? {} : { files }),
      ...(totalOf(usage) === 0 ? {} : { usage }),
      ...defined({ task: order.task }),
      ...more,
    },
    // It is merged once; whatever else becomes of it may come again.
    {
      by: BY,
      once:
        status === 'merged' ? `delegate:${id}:merged` : `delegate:${id}:${status}:${state.since}`,
    },
  )
}

/** Of all its attempts. */
function usageOf({ run }: DelegateState): Usage {
  return run.attempts.flatMap(({ spent }) => Object.values(spent)).reduce(addUsage, NOTHING)
}

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
  const deliverables = deliverablesOf(readings, state.order.output)
  const files = changedFiles(workspace, state, { isMerged: true })
  const told = [
    commitDraft(workspace, landed.commit, state.order.name),
    reportDraft(state, 'merged', {
      files,
      commit: landed.commit,
      ...(deliverables.length === 0 ? {} : { deliverables }),
    }),
    ...taskDrafts(state, landed),
  ]
  const once = (what: string, path: string) => ({
    by: BY,
    once: `delegate:${state.id}:${what}:${path}`,
  })
  const copies = [
    ...readings.flatMap((reading) => learned(reading, state.order.name)),
    ...files.map((path) => draft('file.changed', { path }, once('file', path))),
    ...deliverables.map((path) => draft('deliverable.set', { path }, once('deliverable', path))),
  ]
  const isTold =
    (await appendOnce(workspace, state.order.parent, [...copies, ...told])) ||
    // What it learned is there already.
    (await appendOnce(workspace, sessions.at(-1), told))
  if (!isTold) appendToBacklog(workspace, taskDrafts(state, landed))
  await refreshTasks(workspace, state.order.task === undefined ? [] : [state.order.task])
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
          { title: text, ...defined({ context, options, choice, rationale }), when: at, whose },
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

/** A session that follows no template folds none, but its journal has them. */
function deliverablesOf(readings: readonly Reading[], output?: string): readonly string[] {
  const paths = new Set<string>()
  for (const { entries } of readings) {
    for (const { kind, data } of inEffect(entries)) {
      if (typeof data.path !== 'string' || data.path === '') continue
      if (kind === 'deliverable.set') paths.add(data.path)
      if (kind === 'deliverable.dropped') paths.delete(data.path)
    }
  }
  return [...new Set([...(output === undefined ? [] : [output]), ...paths])]
}

function commitDraft({ place }: Workspace, commit: string, name: string): Draft {
  const printed = tryGit(repositoryOf(place).worktree, ['log', '-1', '--format=%s', commit, '--'])
  const subject = printed?.trim() || `merge ${name}`
  return draft('commit.made', { commit, subject }, { by: BY, once: `commit:${commit}` })
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

const MOST_FILES = 40

/** The paths that its own commits changed, and not those that came to it from its target. Nothing when its commits are gone. */
export function changedFiles(
  workspace: Workspace,
  state: DelegateState,
  { isMerged }: { readonly isMerged: boolean },
): readonly string[] {
  if (state.order.isReadOnly) return []
  const { worktree } = repositoryOf(workspace.place)
  for (const [from, to] of pairsToCompare(workspace, state, isMerged)) {
    // From where the two parted to the second.
    const paths = tryGit(worktree, ['diff', '--name-only', '-z', `${from}...${to}`, '--'])
    if (paths !== undefined) return paths.split('\0').filter(Boolean).slice(0, MOST_FILES)
  }
  return []
}

/** What to compare, the best first; what is missing in git is passed over. */
function pairsToCompare(
  { place }: Workspace,
  { id, merge, order, ready, run }: DelegateState,
  isMerged: boolean,
): readonly (readonly [from: string, to: string])[] {
  const { base, branch } = run.started
  const tip = `refs/heads/${branch}`
  // Once its work is in the target, only the log says what the target was before.
  const landed = isMerged ? (merge ?? lastMerge(place, id)) : undefined
  return [
    ...(landed === undefined ? [] : [[landed.onto, landed.tip] as const]),
    ...(isMerged ? [] : [[order.target, tip] as const]),
    [base, tip],
    ...(ready?.commit === undefined ? [] : [[base, ready.commit] as const]),
  ]
}

/** The merge that landed: the last that was begun. */
function lastMerge(
  place: Place,
  delegate: string,
): { readonly onto: string; readonly tip: string } | undefined {
  const begun = readRun(place, delegate).findLast(({ kind }) => kind === 'merge.begun')
  return begun?.kind === 'merge.begun' ? begun.data : undefined
}

/** The journal of a session, held as long as it is needed; undefined when there is none any more. */
export async function withJournal<T>(
  workspace: Workspace,
  id: string | undefined,
  use: (session: LiveSession) => Promise<T>,
): Promise<T | undefined> {
  // A log may come from elsewhere, and no name in it is to lead out of a folder.
  if (id === undefined || !isId(id)) return undefined
  const session = workspace.session(id)
  try {
    return session.log.exists() ? await use(session) : undefined
  } finally {
    session.close()
  }
}

/**
 * Appends what a journal does not have yet, in one write, and renders its views. A session that is closed meanwhile stays closed.
 * Answers whether there was such a journal.
 */
async function appendOnce(
  workspace: Workspace,
  id: string | undefined,
  drafts: readonly Draft[],
): Promise<boolean> {
  const done = await withJournal(workspace, id, async (session) => {
    const known = new Set(session.read().entries.map(({ once }) => once))
    session.append(drafts.filter(({ once }) => once === undefined || !known.has(once)))
    await workspace.refreshIfPossible(session)
    return true
  })
  return done === true
}
