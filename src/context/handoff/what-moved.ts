import { counted } from '../counted.ts'
import { safeLine } from '../../text/safe-text.ts'
import { GitFailed } from '../../git/run-git.ts'
import type { GitState, TaskStatus } from '../../session/entries.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import { shortCommit, tagOf } from './probes/claim.ts'
import { MISSING, fingerprint } from './fingerprint.ts'
import { probeKeptCode } from './probes/kept-code.ts'
import type { RecordedHandoff } from './recorded.ts'
import { OWN_FOLDERS, type Surroundings } from './probes/surroundings.ts'
import { entriesSince } from './went-on.ts'

/** What a handoff rests on. */
export type Handed = Pick<
  RecordedHandoff,
  'git' | 'code' | 'files' | 'tasks' | 'position' | 'conversation'
>

export interface NowThere {
  readonly now: Surroundings
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  /** The status of each task of the backlog. */
  readonly tasks: ReadonlyMap<string, TaskStatus>
  /** The conversation that takes it up. */
  readonly acceptor?: string
}

/** Everything that is no longer as a handoff says, each with what shows it. Empty when nothing moved. */
export function whatMoved(handed: Handed, there: NowThere): readonly string[] {
  const { now } = there
  return [
    ...headMoved(now, handed.git),
    ...filesMoved(handed, now),
    ...codeGone(handed, now),
    ...journalWentOn(handed, there),
    ...tasksMoved(handed, there.tasks),
  ]
}

/** HEAD and branch. What only Stint's own folders saw, as when journals are shared through git, moves nothing. */
export function headMoved(now: Surroundings, then: GitState | undefined): readonly string[] {
  if (then === undefined) return []
  if (now.repository === undefined) return ['there is no git repository here, and there was one']
  const { branch, commit } = now.head
  const onBranch =
    then.branch === branch
      ? []
      : [
          `the branch was ${then.branch ?? 'none'} and is ${branch ?? 'none'}${then.branch === undefined ? '' : `: git switch ${then.branch} goes back`}`,
        ]
  if (then.commit === undefined || commit?.startsWith(then.commit) === true) return onBranch
  return [...onBranch, ...commitMoved(now, then.commit, commit)]
}

function commitMoved(
  now: Surroundings,
  then: string,
  commit: string | undefined,
): readonly string[] {
  const git = now.git!
  try {
    if (!git.ask(['cat-file', '-e', `${then}^{commit}`]))
      return [`commit ${shortCommit(then)} is not in this repository`]
    if (commit === undefined) return [`HEAD was ${shortCommit(then)} and is no commit`]
    const others = OWN_FOLDERS.map((folder) => `:(exclude,top,literal)${folder}`)
    if (git.ask(['diff', '--quiet', '--no-ext-diff', then, commit, '--', ':(top)', ...others]))
      return []
    const range = `${then}..${commit}`
    const count = Number(git.run(['rev-list', '--count', range, '--']))
    const subjects = git
      .run(['log', '--format=%s', '--max-count=3', range, '--'])
      .trim()
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

function filesMoved({ files, git }: Handed, now: Surroundings): readonly string[] {
  const found = files
    .map(({ path, sum }) => ({ path, sum, is: fingerprint(now.root, path) }))
    .filter(({ sum, is }) => sum !== is)
  const gone = found.filter(({ is }) => is === MISSING).map(({ path }) => path)
  const changed = found.filter(({ is }) => is !== MISSING).map(({ path }) => path)
  const known = new Set(files.map(({ path }) => path))
  // A list that was cut off says nothing about what is not in it.
  const isWhole = (git?.dirty ?? 0) <= files.length
  const dirtied = isWhole ? (now.dirty ?? []).filter((path) => !known.has(path)) : []
  const said = [
    ...(gone.length === 0 ? [] : [`gone: ${some(gone)}`]),
    ...(changed.length === 0 ? [] : [`changed: ${some(changed)}`]),
    ...(dirtied.length === 0 ? [] : [`uncommitted now, and not then: ${some(dirtied)}`]),
  ]
  const isUnknown = git !== undefined && now.repository !== undefined && now.dirty === undefined
  return isUnknown
    ? [...said, `what is uncommitted could not be checked: ${now.whyUnknown ?? 'git did not say'}`]
    : said
}

/** Kept code is missed only where it is more than the commit it was made on. */
export function codeGone(
  { code, git }: Pick<Handed, 'code' | 'git'>,
  now: Surroundings,
): readonly string[] {
  if (code === undefined || code.commit === git?.commit) return []
  const verdict = probeKeptCode(now, code)
  if (verdict.isVerified) return []
  return [`the uncommitted work, kept as ${code.ref}, is not here: ${tagOf(verdict)}`]
}

function journalWentOn(handed: Handed, { entries, state, acceptor }: NowThere): readonly string[] {
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

function tasksMoved({ tasks }: Handed, now: ReadonlyMap<string, TaskStatus>): readonly string[] {
  return tasks
    .map(({ task, status }) => ({ task, status, is: now.get(task) }))
    .filter(({ status, is }) => standing(is) !== standing(status))
    .map(
      ({ task, status, is }) =>
        `task ${task} was ${status} and is ${is ?? 'not in the backlog'}: stint task show ${task}`,
    )
}

/** Being set down and taken up again, as pausing and resuming do, is no news about a task. */
function standing(status: TaskStatus | undefined): string {
  return status === 'in_progress' || status === 'ready' ? 'open' : (status ?? 'not there')
}

function some(paths: readonly string[]): string {
  const shown = paths.slice(0, 8).map(safeLine).join(', ')
  return paths.length > 8 ? `${shown} and ${paths.length - 8} more` : shown
}
