import { GitFailed } from '../../git/run-git.ts'
import type { GitState, TaskStatus } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { safeLine } from '../../text/safe-text.ts'
import { counted } from '../text-size.ts'
import { MISSING_FILE, fingerprintFile } from './gather-facts.ts'
import {
  STINT_FOLDERS,
  type WorkingTreeState,
  probeSavedCode,
  shortCommit,
  verdictTag,
} from './probes.ts'
import { type RecordedHandoff, entriesSince } from './recorded-handoffs.ts'

type HandoffRecord = Pick<
  RecordedHandoff,
  'git' | 'code' | 'files' | 'tasks' | 'position' | 'conversation'
>

interface CurrentProject {
  readonly now: WorkingTreeState
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly tasks: ReadonlyMap<string, TaskStatus>
  readonly acceptor?: string
}

/** Each change comes with the command that shows it. */
export function changesSinceHandoff(
  handoff: HandoffRecord,
  present: CurrentProject,
): readonly string[] {
  const { now } = present
  return [
    ...headChanges(now, handoff.git),
    ...fileChanges(handoff, now),
    ...missingCode(handoff, now),
    ...newEntries(handoff, present),
    ...taskChanges(handoff, present.tasks),
  ]
}

/** Commits that change only Stint's own folders do not count. */
export function headChanges(
  now: WorkingTreeState,
  recorded: GitState | undefined,
): readonly string[] {
  if (recorded === undefined) return []
  if (now.repository === undefined) return ['there is no git repository here, and there was one']
  const { branch, commit } = now.head
  const back = recorded.branch === undefined ? '' : `: git switch ${recorded.branch} goes back`
  const onBranch =
    recorded.branch === branch
      ? []
      : [`the branch was ${recorded.branch ?? 'none'} and is ${branch ?? 'none'}${back}`]
  if (recorded.commit === undefined || commit?.startsWith(recorded.commit) === true) return onBranch
  return [...onBranch, ...commitChanges(now, recorded.commit, commit)]
}

function commitChanges(now: WorkingTreeState, recorded: string, commit: string | undefined) {
  const git = now.git!
  try {
    if (!git.ask(['cat-file', '-e', `${recorded}^{commit}`]))
      return [`commit ${shortCommit(recorded)} is not in this repository`]
    if (commit === undefined) return [`HEAD was ${shortCommit(recorded)} and is no commit`]
    const others = STINT_FOLDERS.map((folder) => `:(exclude,top,literal)${folder}`)
    if (git.ask(['diff', '--quiet', '--no-ext-diff', recorded, commit, '--', ':(top)', ...others]))
      return []
    const range = `${recorded}..${commit}`
    const count = Number(git.run(['rev-list', '--count', range, '--']))
    const subjects = git
      .run(['log', '--format=%s', '--max-count=3', range, '--'])
      .split('\n')
      .filter(Boolean)
    const [from, to] = count === 0 ? [commit, recorded] : [recorded, commit]
    const news =
      count === 0
        ? 'it went back'
        : `${counted(count, 'new commit')} (${subjects.map(safeLine).join('; ')})`
    const show = `git log --oneline ${shortCommit(from)}..${shortCommit(to)}`
    return [`HEAD was ${shortCommit(recorded)} and is ${shortCommit(commit)}, ${news}: ${show}`]
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return [`whether HEAD moved could not be checked: ${error.message}`]
  }
}

function fileChanges({ files, git }: HandoffRecord, now: WorkingTreeState) {
  const gone: string[] = []
  const changed: string[] = []
  for (const { path, sum } of files) {
    const is = fingerprintFile(now.root, path)
    if (is !== sum) (is === MISSING_FILE ? gone : changed).push(path)
  }
  const known = new Set(files.map(({ path }) => path))
  // A truncated list says nothing about other paths.
  const isWhole = (git?.dirty ?? 0) <= files.length
  const dirtied = isWhole ? (now.dirty ?? []).filter((path) => !known.has(path)) : []
  const isUnknown = git !== undefined && now.repository !== undefined && now.dirty === undefined
  return [
    ...pathList('gone', gone),
    ...pathList('changed', changed),
    ...pathList('uncommitted now, and not then', dirtied),
    ...(isUnknown
      ? [`what is uncommitted could not be checked: ${now.whyUnknown ?? 'git did not say'}`]
      : []),
  ]
}

function pathList(label: string, paths: readonly string[]) {
  if (paths.length === 0) return []
  const more = paths.length > 8 ? ` and ${paths.length - 8} more` : ''
  return [`${label}: ${paths.slice(0, 8).map(safeLine).join(', ')}${more}`]
}

/** Only if the saved code differs from its base commit. */
function missingCode({ code, git }: HandoffRecord, now: WorkingTreeState) {
  if (code === undefined || code.commit === git?.commit) return []
  const verdict = probeSavedCode(now, code)
  if (verdict.isVerified) return []
  return [`the uncommitted work, kept as ${code.ref}, is not here: ${verdictTag(verdict)}`]
}

function newEntries(handoff: HandoffRecord, { entries, state, acceptor }: CurrentProject) {
  const { since, late } = entriesSince(handoff, entries, acceptor)
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

function taskChanges({ tasks }: HandoffRecord, now: ReadonlyMap<string, TaskStatus>) {
  // Pausing and resuming a task is not a change.
  const comparable = (status: TaskStatus | undefined) =>
    status === 'in_progress' || status === 'ready' ? 'open' : status
  return tasks
    .filter(({ task, status }) => comparable(now.get(task)) !== comparable(status))
    .map(
      ({ task, status }) =>
        `task ${task} was ${status} and is ${now.get(task) ?? 'not in the backlog'}: stint task show ${task}`,
    )
}
