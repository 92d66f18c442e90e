import { tryGit } from '../../git/run-git.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { isId } from '../../journal/ids.ts'
import type { LiveSession, SessionReading } from '../../project/store/live-session.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/project-backlog.ts'
import {
  type DelegateOutcome,
  type EntryData,
  type EntryDraft,
  draftEntry,
} from '../../session/entries.ts'
import { effectiveEntries } from '../../session/effective-entries.ts'
import { openBlockers } from '../../session/state.ts'
import { defined } from '../../text/defined.ts'
import { readRun } from '../run-log.ts'
import { ZERO_USAGE, sumUsage, totalTokens } from '../run-state.ts'
import { type DelegateState, isOpenDelegate } from './delegates.ts'

const BY = 'delegate'

export async function reportStartToParent(
  workspace: Workspace,
  state: DelegateState,
): Promise<void> {
  const { as, group, name, parent, task, what } = state.order
  const { branch } = state.run.started
  const data = { delegate: state.id, name, what, ...defined({ as, task, group }), branch }
  const once = `delegate:${state.id}:begun:${state.since}`
  await recordInParent(workspace, parent, draftEntry('delegate.begun', data, { by: BY, once }))
}

export async function reportToParent(workspace: Workspace, state: DelegateState): Promise<void> {
  const { status } = state
  if (status === 'running' || status === 'merging') return
  const files = changedFiles(workspace, state, { isMerged: status === 'merged' })
  await recordInParent(workspace, state.order.parent, reportDraft(state, status, files))
}

/** Reports what a killed process could not report. */
export async function reportMissedToParent(
  workspace: Workspace,
  states: readonly DelegateState[],
): Promise<void> {
  for (const parent of new Set(states.flatMap(({ order }) => order.parent ?? []))) {
    const known = await withJournal(workspace, parent, (session) => session.open().delegates.items)
    const statusOf = new Map(known?.map(({ delegate, status }) => [delegate, status]))
    // The session's state drops the oldest merged or discarded delegates.
    const isBehind = (state: DelegateState) =>
      state.order.parent === parent &&
      statusOf.get(state.id) !== state.status &&
      (statusOf.has(state.id) || isOpenDelegate(state))
    if (known !== undefined)
      for (const state of states.filter(isBehind)) await reportToParent(workspace, state)
  }
}

/** The delegate's own log already has it, so a failure is only printed. */
async function recordInParent(workspace: Workspace, parent: string | undefined, entry: EntryDraft) {
  try {
    await appendOnce(workspace, parent, [entry])
  } catch (error) {
    if (!(error instanceof StintError) && errnoOf(error) === undefined) throw error
    const { message } = error as Error
    workspace.say(`what became of a delegate could not be told in its session: ${message}`)
  }
}

function reportDraft(
  { id, move, order, ready, run, since }: DelegateState,
  status: DelegateOutcome,
  files: readonly string[],
  more: Pick<EntryData['delegate.reported'], 'commit' | 'deliverables'> = {},
) {
  const spent = run.attempts.flatMap((attempt) => Object.values(attempt.spent))
  const usage = spent.reduce(sumUsage, ZERO_USAGE)
  const known = {
    summary: move?.summary ?? ready?.summary,
    because: status === 'merged' ? undefined : move?.because,
    commit: move?.commit,
    report: move?.report,
    files: files.length === 0 ? undefined : files,
    usage: totalTokens(usage) === 0 ? undefined : usage,
    task: order.task,
  }
  const { name, what } = order
  const { branch } = run.started
  // Only a merge happens at most once.
  const once = `delegate:${id}:${status === 'merged' ? status : `${status}:${since}`}`
  return draftEntry(
    'delegate.reported',
    { delegate: id, name, status, what, branch, ...defined(known), ...more },
    { by: BY, once },
  )
}

interface LandedMerge {
  readonly commit: string
  readonly target: string
}

/**
 * Copies what a merged delegate learned and did into the parent's journal, or closes its task in its own last session if it
 * has no parent. Repeating it after a crash changes nothing.
 */
export async function mergeJournals(
  workspace: Workspace,
  state: DelegateState,
  landed: LandedMerge,
): Promise<void> {
  const { id, order, run } = state
  const sessions = run.sessions.map(({ session }) => session)
  const readings: SessionReading[] = []
  for (const session of sessions) {
    const reading = await withJournal(workspace, session, (journal) => journal.read())
    if (reading !== undefined) readings.push(reading)
  }
  const paths = readDeliverables(readings, order.output)
  const deliverables = paths.length === 0 ? undefined : paths
  const files = changedFiles(workspace, state, { isMerged: true })
  const reports = [
    commitDraft(workspace, landed.commit, order.name),
    reportDraft(state, 'merged', files, { commit: landed.commit, ...defined({ deliverables }) }),
    ...taskDoneDrafts(state, landed),
  ]
  const once = (what: string, path: string) => ({ by: BY, once: `delegate:${id}:${what}:${path}` })
  const copies = [
    ...readings.flatMap((reading) => copyLearned(reading, order.name)),
    ...files.map((path) => draftEntry('file.changed', { path }, once('file', path))),
    ...paths.map((path) => draftEntry('deliverable.set', { path }, once('deliverable', path))),
  ]
  const isRecorded =
    (await appendOnce(workspace, order.parent, [...copies, ...reports])) ||
    // Its own session already has the copies.
    (await appendOnce(workspace, sessions.at(-1), reports))
  if (!isRecorded) appendToBacklog(workspace, taskDoneDrafts(state, landed))
  await refreshTasks(workspace, order.task === undefined ? [] : [order.task])
}

/** Copies decisions, discoveries and blockers, each with its author and the id of the original as `once`. */
function copyLearned({ state }: SessionReading, name: string) {
  const copy = (id: string) => ({ by: BY, once: `copy:${id}` })
  return [
    ...state.decisions.items.map(
      ({ id, at, text, context, options, choice, rationale, whose = name }) => {
        const known = defined({ context, options, choice, rationale })
        return draftEntry('decision.made', { title: text, ...known, when: at, whose }, copy(id))
      },
    ),
    ...state.discoveries.items.map(({ id, at, text, gotcha, whose = name }) =>
      draftEntry(gotcha ? 'gotcha.found' : 'discovery.made', { text, when: at, whose }, copy(id)),
    ),
    ...openBlockers(state).map(({ id, at, text, whose = name }) =>
      draftEntry('blocker.raised', { text, when: at, whose }, copy(id)),
    ),
  ]
}

/** Read from the entries, because a session without a template folds no deliverables. */
function readDeliverables(readings: readonly SessionReading[], output?: string) {
  const paths = new Set<string>()
  for (const { entries } of readings) {
    for (const { kind, data } of effectiveEntries(entries)) {
      if (typeof data.path !== 'string' || data.path === '') continue
      if (kind === 'deliverable.set') paths.add(data.path)
      if (kind === 'deliverable.dropped') paths.delete(data.path)
    }
  }
  return [...new Set([...(output === undefined ? [] : [output]), ...paths])]
}

function commitDraft({ paths }: Workspace, commit: string, name: string) {
  const printed = tryGit(requireRepository(paths).worktree, [
    'log',
    '-1',
    '--format=%s',
    commit,
    '--',
  ])
  const subject = printed?.trim() || `merge ${name}`
  return draftEntry('commit.made', { commit, subject }, { by: BY, once: `commit:${commit}` })
}

/** By `run`, because only a proof closes tasks. */
export function taskDoneDrafts({ id, move, order, ready }: DelegateState, landed?: LandedMerge) {
  const { task, name: whose } = order
  if (task === undefined) return []
  const summary = ready?.summary ?? move?.summary
  const git = landed && { branch: landed.target, commit: landed.commit }
  const data = { task, status: 'completed' as const, ...defined({ summary, git }), whose }
  return [draftEntry('task.moved', data, { by: 'run', once: `delegate:${id}:done:${task}` })]
}

const MOST_FILES = 40

/** Paths changed by its own commits, not by merges from its target; empty when its commits are gone. */
export function changedFiles(
  { paths }: Workspace,
  { id, merge, order, ready, run }: DelegateState,
  { isMerged }: { readonly isMerged: boolean },
): readonly string[] {
  if (order.isReadOnly) return []
  const { base, branch } = run.started
  const tip = `refs/heads/${branch}`
  // After the merge only the log knows the previous target commit.
  const last = isMerged ? (merge ?? lastMerge(paths, id)) : undefined
  const pairs = [
    isMerged ? [last?.onto, last?.tip] : [order.target, tip],
    [base, tip],
    [base, ready?.commit],
  ]
  for (const [from, to] of pairs) {
    if (from === undefined || to === undefined) continue
    const range = ['diff', '--name-only', '-z', `${from}...${to}`, '--']
    const printed = tryGit(requireRepository(paths).worktree, range)
    if (printed !== undefined) return printed.split('\0').filter(Boolean).slice(0, MOST_FILES)
  }
  return []
}

function lastMerge(paths: ProjectPaths, delegate: string) {
  const begun = readRun(paths, delegate).findLast(({ kind }) => kind === 'merge.begun')
  return begun?.kind === 'merge.begun' ? begun.data : undefined
}

export async function withJournal<T>(
  workspace: Workspace,
  id: string | undefined,
  use: (session: LiveSession) => T | Promise<T>,
): Promise<T | undefined> {
  // A log may come from another machine, and a name in it must not lead out of the folder.
  if (id === undefined || !isId(id)) return undefined
  const session = workspace.session(id)
  try {
    return session.log.exists() ? await use(session) : undefined
  } finally {
    session.close()
  }
}

async function appendOnce(
  workspace: Workspace,
  id: string | undefined,
  drafts: readonly EntryDraft[],
) {
  const done = await withJournal(workspace, id, async (session) => {
    const known = new Set(session.read().entries.map(({ once }) => once))
    session.append(drafts.filter(({ once }) => once === undefined || !known.has(once)))
    await workspace.refreshIfPossible(session)
    return true
  })
  return done === true
}
