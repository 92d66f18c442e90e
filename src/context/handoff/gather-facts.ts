import type { GitState, HandoffTarget, TaskStatus } from '../../session/entries.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import type { Task } from '../../backlog/task.ts'
import { type Claim, couldNotBeChecked } from './probes/claim.ts'
import type { FileToReview, HandoffFacts, KeptWork, LogPosition, Uncommitted } from './facts.ts'
import { filesToReview } from './files-to-review.ts'
import { fingerprint } from './fingerprint.ts'
import { harnessOf } from './made-by.ts'
import { probeBranch } from './probes/branch.ts'
import { probeReachable } from './probes/commit-reachable.ts'
import { probeFile } from './probes/file-exists.ts'
import { probeHead } from './probes/head.ts'
import { probeKeptCode } from './probes/kept-code.ts'
import { probeProgram } from './probes/program.ts'
import { probeTask } from './probes/task-status.ts'
import { probeClean, probeDirty } from './probes/working-tree.ts'
import type { Surroundings } from './probes/surroundings.ts'
import { verifyClaims } from './verify-commands.ts'
import { defined } from '../../text/defined.ts'

/** What whoever makes a handoff knows. */
export interface Gathering {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly position: LogPosition
  readonly id: string
  readonly number: number
  readonly createdAt: string
  /** What `lookAround` found. */
  readonly now: Surroundings
  readonly reason?: string
  readonly isDraft?: boolean
  readonly to?: HandoffTarget
  /** The backlog, when the session has tasks. */
  readonly tasks?: readonly Pick<Task, 'id' | 'shortname' | 'title' | 'status' | 'verify'>[]
  /** The command that shows whether the project is well. */
  readonly verify?: string | undefined
  /** Paths that the work is to leave behind: what a workflow calls its deliverables. */
  readonly deliverables?: readonly string[]
  /** What the repository is, one thing a line. */
  readonly project?: string | undefined
  /** The checkpoint that keeps the working tree. */
  readonly checkpoint?: {
    readonly id: string
    readonly code?: {
      readonly commit: string
      readonly ref: string
      readonly leftOut?: readonly string[]
    }
  }
  /** The conversation it is made in, when that is known. */
  readonly conversation?: string
}

const COMMITS = 6
const FINGERPRINTS = 200

/** Looks everything up that a handoff claims, once, in the time that `now` has left. Reads only. */
export function gatherFacts(from: Gathering): HandoffFacts {
  const { now, state } = from
  const entries = inEffect(from.entries)
  const files = filesToReview(state, now)
  const tasks = taskFacts(from)
  const git = gitOf(now)
  const madeBy = harnessOf(state, from.conversation)
  return {
    state,
    id: from.id,
    number: from.number,
    createdAt: from.createdAt,
    isDraft: from.isDraft === true,
    ...defined({ reason: from.reason, to: from.to, git }),
    position: from.position,
    where: whereClaims(state, now),
    uncommitted: uncommitted(now, from),
    files,
    verify: verifyClaims(now, entries, state, [from.verify, ...tasks.map(({ verify }) => verify)]),
    commits: state.commits.items
      .slice(-COMMITS)
      .toReversed()
      .map(({ commit, text }) => ({
        says: `${commit.slice(0, 7)} ${text}`,
        verdict: probeReachable(now, commit),
      })),
    tasks: tasks.map(({ claim }) => claim),
    deliverables: deliverables(now, from.deliverables ?? []),
    commands: state.commands.items.map(({ text }) => ({
      says: text,
      verdict: probeProgram(now, text),
    })),
    ...(from.project === undefined
      ? {}
      : { project: from.project.split('\n').filter((line) => line.trim() !== '') }),
    ...defined({ madeBy }),
    fingerprints: fingerprints(now, files),
    taskStatuses: tasks.flatMap(({ task, status }) =>
      status === undefined ? [] : [{ task, status }],
    ),
  }
}

function gitOf({ repository, head, dirty }: Surroundings): GitState | undefined {
  if (repository === undefined) return undefined
  return { ...head, ...(dirty === undefined ? {} : { dirty: dirty.length }) }
}

/** Where the session says it is, and where HEAD is. */
function whereClaims(state: SessionState, now: Surroundings): readonly Claim[] {
  if (now.repository === undefined) return []
  const branch = state.branch ?? now.head.branch
  const { commit } = now.head
  return [
    ...(branch === undefined
      ? []
      : [{ says: `Branch ${branch} is checked out`, verdict: probeBranch(now, branch) }]),
    ...(commit === undefined
      ? [{ says: 'HEAD', verdict: couldNotBeChecked(now.whyUnknown ?? 'there is no commit yet') }]
      : [{ says: `HEAD is ${commit.slice(0, 12)}`, verdict: probeHead(now, commit) }]),
  ]
}

function uncommitted(now: Surroundings, { checkpoint }: Gathering): Uncommitted {
  const paths = now.dirty
  const verdict =
    paths === undefined || paths.length === 0 ? probeClean(now) : probeDirty(now, paths)
  const kept =
    checkpoint?.code === undefined ? undefined : keptWork(now, checkpoint.id, checkpoint.code)
  return {
    ...defined({ paths }),
    verdict,
    ...defined({ kept }),
  }
}

function keptWork(
  now: Surroundings,
  checkpoint: string,
  code: { commit: string; ref: string; leftOut?: readonly string[] },
): KeptWork {
  const { commit, ref, leftOut = [] } = code
  return { commit, ref, checkpoint, leftOut, verdict: probeKeptCode(now, code) }
}

interface TaskFact {
  readonly task: string
  readonly claim: Claim
  readonly status?: TaskStatus
  readonly verify?: string
}

/** The session's tasks, with the status its journal last gave them. */
function taskFacts({ state, entries, tasks = [] }: Gathering): readonly TaskFact[] {
  return state.tasks.map((id) => {
    const known = tasks.find((task) => task.id === id)
    const moved = entries.findLast(({ kind, data }) => kind === 'task.moved' && data.task === id)
      ?.data.status
    const claimed = (moved as TaskStatus | undefined) ?? known?.status ?? 'in_progress'
    const named = known === undefined ? id : `${known.shortname} (${known.title})`
    return {
      task: id,
      claim: { says: `${named} is ${claimed}`, verdict: probeTask(claimed, known?.status) },
      ...(known === undefined ? {} : { status: known.status }),
      ...defined({ verify: known?.verify }),
    }
  })
}

function deliverables(now: Surroundings, paths: readonly string[]): readonly FileToReview[] {
  return [...new Set(paths)].map((path) => ({ path, why: '', verdict: probeFile(now, path) }))
}

function fingerprints(
  now: Surroundings,
  files: readonly FileToReview[],
): HandoffFacts['fingerprints'] {
  const paths = [
    ...(now.dirty ?? []),
    ...files.filter(({ verdict }) => verdict.isVerified).map(({ path }) => path),
  ]
  return [...new Set(paths)]
    .slice(0, FINGERPRINTS)
    .map((path) => ({ path, sum: fingerprint(now.root, path) }))
}
