import { GitFailed } from '../../git/run-git.ts'
import type { GitState, TaskStatus } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { safeLine } from '../../text/safe-text.ts'
import { counted } from '../cost.ts'
import { MISSING_FILE, fingerprintFile } from './gather-facts.ts'
import {
  STINT_FOLDERS,
  type WorkingTreeState,
  probeSavedCode,
  shortCommit,
  verdictTag,
} from './probes.ts'
import { type RecordedHandoff, entriesSince } from './recorded-handoffs.ts'

type Handed = Pick<
  RecordedHandoff,
  'git' | 'code' | 'files' | 'tasks' | 'position' | 'conversation'
>

interface Present {
  readonly now: WorkingTreeState
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly tasks: ReadonlyMap<string, TaskStatus>
  readonly acceptor?: string
}

/** Everything that is no longer as a handoff says, each with what shows it. */
export function changesSinceHandoff(handed: Handed, present: Present): readonly string[] {
  const { now } = present
  return [
    ...headChanges(now, handed.git),
    ...filesMoved(handed, now),
    ...codeGone(handed, now),
    ...journalContinued(handed, present),
    ...tasksMoved(handed, present.tasks),
  ]
}

/** Changes to Stint's own folders, as when journals are shared through git, move nothing. */
export function headChanges(now: WorkingTreeState, then: GitState | undefined): readonly string[] {
  if (then === undefined) return []
  if (now.repository === undefined) return ['there is no git repository here, and there was one']
  const { branch, commit } = now.head
  const back = then.branch === undefined ? '' : `: git switch ${then.branch} goes back`
  const onBranch =
    then.branch === branch
      ? []
      : [`the branch was ${then.branch ?? 'none'} and is ${branch ?? 'none'}${back}`]
  if (then.commit === undefined || commit?.startsWith(then.commit) === true) return onBranch
  return [...onBranch, ...commitMoved(now, then.commit, commit)]
}

function commitMoved(now: WorkingTreeState, then: string, commit: string | undefined) {
  const git = now.git!
  try {
    if (!git.ask(['cat-file', '-e', `${then}^{commit}`]))
      return [`commit ${shortCommit(then)} is not in this repository`]
    if (commit === undefined) return [`HEAD was ${shortCommit(then)} and is no commit`]
    const others = STINT_FOLDERS.map((folder) => `:(exclude,top,literal)${folder}`)
    if (git.ask(['diff', '--quiet', '--no-ext-diff', then, commit, '--', ':(top)', ...others]))
      return []
    const range = `${then}..${commit}`
    const count = Number(git.run(['rev-list', '--count', range, '--']))
    const subjects = git
      .run(['log', '--format=%s', '--max-count=3', range, '--'])
      .split('\n')
      .filter(Boolean)
    const [from, to] = count === 0 ? [commit, then] : [then, commit]
    const news =
      count === 0
        ? 'it went back'
        : `${counted(count, 'new commit')} (${subjects.map(safeLine).join('; ')})`
    const show = `git log --oneline ${shortCommit(from)}..${shortCommit(to)}`
    return [`HEAD was ${shortCommit(then)} and is ${shortCommit(commit)}, ${news}: ${show}`]
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return [`whether HEAD moved could not be checked: ${error.message}`]
  }
}

function filesMoved({ files, git }: Handed, now: WorkingTreeState) {
  const gone: string[] = []
  const changed: string[] = []
  for (const { path, sum } of files) {
    const is = fingerprintFile(now.root, path)
    if (is !== sum) (is === MISSING_FILE ? gone : changed).push(path)
  }
  const known = new Set(files.map(({ path }) => path))
  // A list that was cut off says nothing about what is not in it.
  const isWhole = (git?.dirty ?? 0) <= files.length
  const dirtied = isWhole ? (now.dirty ?? []).filter((path) => !known.has(path)) : []
  const isUnknown = git !== undefined && now.repository !== undefined && now.dirty === undefined
  return [
    ...listed('gone', gone),
    ...listed('changed', changed),
    ...listed('uncommitted now, and not then', dirtied),
    ...(isUnknown
      ? [`what is uncommitted could not be checked: ${now.whyUnknown ?? 'git did not say'}`]
      : []),
  ]
}

function listed(what: string, paths: readonly string[]) {
  if (paths.length === 0) return []
  const more = paths.length > 8 ? ` and ${paths.length - 8} more` : ''
  return [`${what}: ${paths.slice(0, 8).map(safeLine).join(', ')}${more}`]
}

/** Kept code is missed only where it is more than the commit it was made on. */
function codeGone({ code, git }: Handed, now: WorkingTreeState) {
  if (code === undefined || code.commit === git?.commit) return []
  const verdict = probeSavedCode(now, code)
  if (verdict.isVerified) return []
  return [`the uncommitted work, kept as ${code.ref}, is not here: ${verdictTag(verdict)}`]
}

function journalContinued(handed: Handed, { entries, state, acceptor }: Present) {
  const { since, late } = entriesSince(handed, entries, acceptor)
  const kinds = new Map<string, number>()
  for (const { kind } of since) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const named = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const show = `stint view ${state.name} --entries`
  return [
    ...(since.length === 0
      ? []
      : [`the journal went on, ${since.length} added (${named}): ${show}`]),
    ...(late === 0 ? [] : [`${late} of earlier time came in from elsewhere: ${show}`]),
  ]
}

function tasksMoved({ tasks }: Handed, now: ReadonlyMap<string, TaskStatus>) {
  // Pausing and resuming is no news about a task.
  const standing = (status: TaskStatus | undefined) =>
    status === 'in_progress' || status === 'ready' ? 'open' : status
  return tasks
    .filter(({ task, status }) => standing(now.get(task)) !== standing(status))
    .map(
      ({ task, status }) =>
        `task ${task} was ${status} and is ${now.get(task) ?? 'not in the backlog'}: stint task show ${task}`,
    )
}
