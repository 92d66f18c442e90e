import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Task } from '../../backlog/task.ts'
import { errnoOf } from '../../journal/errors.ts'
import { checksum } from '../../journal/record.ts'
import type { HandoffTarget, TaskStatus } from '../../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { defined } from '../../text/defined.ts'
import { failedFirst } from '../session-sections.ts'
import {
  type HandoffClaim,
  type WorkingTreeState,
  couldNotBeChecked,
  relativeInside,
  probeBranch,
  probeFile,
  probeSavedCode,
  probeProgram,
  probeReachable,
  probeTask,
  probeTestRun,
  probeWorkingTree,
  verified,
} from './probes.ts'

export type HandoffFacts = ReturnType<typeof gatherFacts>
export type FileToReview = HandoffFacts['files'][number]
export type SavedWork = NonNullable<HandoffFacts['uncommitted']['kept']>

export interface LogPosition {
  readonly bytes: number
  readonly entries: number
  readonly last: string
}

interface HandoffSources {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly position: LogPosition
  /** Id of the `handoff.made` entry to come. */
  readonly id: string
  readonly number: number
  readonly createdAt: string
  readonly now: WorkingTreeState
  readonly reason?: string
  readonly isDraft?: boolean
  readonly to?: HandoffTarget
  readonly tasks?: readonly Pick<Task, 'id' | 'shortname' | 'title' | 'status' | 'verify'>[]
  readonly verify?: string | undefined
  readonly deliverables?: readonly string[]
  readonly project?: string | undefined
  readonly checkpoint?: {
    readonly id: string
    /** Too large or unreadable files, which exist only in the working tree. */
    readonly code?: {
      readonly commit: string
      readonly ref: string
      readonly leftOut?: readonly string[]
    }
  }
  readonly conversation?: string
}

const MAX_COMMITS = 6
const MAX_FINGERPRINTS = 200
const MAX_FILES = 60
const MAX_RUNS = 3

/** Checks every claim of a handoff within the git time budget. Reads only. */
export function gatherFacts(from: HandoffSources) {
  const { now, state, checkpoint, reason, to } = from
  const { repository, head, dirty } = now
  const files = filesToReview(state, now)
  const tasks = taskFacts(from)
  const kept =
    checkpoint?.code === undefined
      ? undefined
      : {
          ...checkpoint.code,
          leftOut: checkpoint.code.leftOut ?? [],
          checkpoint: checkpoint.id,
          verdict: probeSavedCode(now, checkpoint.code),
        }
  const git =
    repository === undefined ? undefined : { ...head, ...defined({ dirty: dirty?.length }) }
  const checkedFile = (path: string) => ({ path, why: '', verdict: probeFile(now, path) })
  return {
    state,
    id: from.id,
    number: from.number,
    createdAt: from.createdAt,
    isDraft: from.isDraft === true,
    ...defined({ reason, to, git }),
    position: from.position,
    where: gitClaims(state, now),
    uncommitted: { verdict: probeWorkingTree(now), ...defined({ paths: dirty, kept }) },
    files,
    verify: verifyCommands(from, [from.verify, ...tasks.map(({ verify }) => verify)]),
    commits: state.commits.items
      .slice(-MAX_COMMITS)
      .toReversed()
      .map(({ commit, text }) => ({
        says: `${commit.slice(0, 7)} ${text}`,
        verdict: probeReachable(now, commit),
      })),
    tasks: tasks.map(({ claim }) => claim),
    deliverables: [...new Set(from.deliverables)].map(checkedFile),
    commands: state.commands.items.map(({ text }) => ({
      says: text,
      verdict: probeProgram(now, text),
    })),
    ...defined({
      project: from.project?.split('\n').filter((line) => line.trim() !== ''),
      madeBy: conversationOf(state, from.conversation),
    }),
    fingerprints: [
      ...new Set([
        ...(dirty ?? []),
        ...files.filter(({ verdict }) => verdict.isVerified).map(({ path }) => path),
      ]),
    ]
      .slice(0, MAX_FINGERPRINTS)
      .map((path) => ({ path, sum: fingerprintFile(now.root, path) })),
    taskStatuses: tasks.flatMap(({ task, status }) =>
      status === undefined ? [] : [{ task, status }],
    ),
  }
}

function gitClaims(state: SessionState, now: WorkingTreeState): readonly HandoffClaim[] {
  if (now.repository === undefined) return []
  const { branch = now.head.branch } = state
  const { commit } = now.head
  return [
    ...(branch === undefined
      ? []
      : [{ says: `Branch ${branch} is checked out`, verdict: probeBranch(now, branch) }]),
    commit === undefined
      ? { says: 'HEAD', verdict: couldNotBeChecked(now.whyUnknown ?? 'there is no commit yet') }
      : { says: `HEAD is ${commit.slice(0, 12)}`, verdict: verified('HEAD', commit) },
  ]
}

function taskFacts({ state, entries, tasks = [] }: HandoffSources) {
  return state.tasks.map((id) => {
    const known = tasks.find((task) => task.id === id)
    const moved = entries.findLast(({ kind, data }) => kind === 'task.moved' && data.task === id)
    const claimed = (moved?.data.status as TaskStatus) ?? known?.status ?? 'in_progress'
    const named = known === undefined ? id : `${known.shortname} (${known.title})`
    const claim = { says: `${named} is ${claimed}`, verdict: probeTask(claimed, known?.status) }
    return { task: id, claim, status: known?.status, verify: known?.verify }
  })
}

function conversationOf(state: SessionState, given?: string) {
  const { items } = state.conversations
  const known = given === undefined ? items.at(-1) : items.findLast(({ text }) => text === given)
  const conversation = given ?? known?.text
  if (conversation === undefined) return undefined
  const model = state.lastTurn?.conversation === conversation ? state.lastTurn.model : undefined
  return { harness: known?.harness ?? 'unknown', conversation, ...defined({ model }) }
}

/** Configured commands first, then those seen to run tests. */
function verifyCommands(
  { now, entries, state }: HandoffSources,
  named: readonly (string | undefined)[],
) {
  const current = effectiveEntries(entries)
  const changed = state.changedFiles.items.map(({ text }) => text)
  const given = named.filter((command) => command !== undefined && command !== '')
  const seen = failedFirst(state.tests.items).slice(0, MAX_RUNS)
  const others = given.length > 0 ? seen.filter((run) => !run.passed) : seen
  return [...new Set([...given, ...others.map(({ text }) => text)])].map((command) => {
    const run = state.tests.items.findLast(({ text }) => text === command)
    const summary = run?.summary === undefined ? '' : `: ${run.summary}`
    const lastRun = run === undefined ? '' : `${run.passed ? 'passed' : 'FAILED'}${summary}`
    return {
      command: command!,
      lastRun,
      verdict: probeTestRun(now, command!, current, changed),
    }
  })
}

/** Most relevant first. */
function filesToReview(state: SessionState, now: WorkingTreeState) {
  const found = new Map<string, Set<string>>()
  const add = (path: string, why: string) => {
    const inside = relativeInside(now.root, path) ?? path
    found.set(inside, (found.get(inside) ?? new Set()).add(why))
  }
  const changed = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  for (const { passed, text, summary = '' } of state.tests.items.toReversed())
    for (const path of passed ? [] : pathsIn(`${summary} ${text}`))
      if (probeFile(now, path).isVerified) add(path, `fails in ${text}`)
  for (const { text, description = 'key file' } of state.keyFiles.items) add(text, description)
  for (const { text, description } of changed) if (description !== undefined) add(text, description)
  for (const path of now.dirty ?? [])
    found.set(path, (found.get(path) ?? new Set()).add('uncommitted'))
  for (const { text, description } of changed) if (description === undefined) add(text, 'changed')
  return [...found].slice(0, MAX_FILES).map(([path, why]) => {
    // "changed" adds nothing to another reason.
    if (why.size > 1) why.delete('changed')
    return { path, why: [...why].join('; '), verdict: probeFile(now, path) }
  })
}

function pathsIn(text: string) {
  const paths = text.match(/(?:[\w@.-]+\/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}/g) ?? []
  return [...new Set(paths)].slice(0, 20)
}

const MAX_HASHED_BYTES = 8 * 1024 * 1024

export const MISSING_FILE = 'missing'

/** Machine-independent except for huge files. */
export function fingerprintFile(root: string, path: string): string {
  try {
    const fullPath = resolve(root, path)
    const stat = lstatSync(fullPath, { throwIfNoEntry: false })
    if (stat === undefined) return MISSING_FILE
    if (stat.isSymbolicLink()) return checksum(Buffer.from(readlinkSync(fullPath)))
    if (!stat.isFile()) return 'no file'
    return stat.size > MAX_HASHED_BYTES
      ? `${stat.size}-${Math.trunc(stat.mtimeMs)}`
      : checksum(readFileSync(fullPath))
  } catch (error) {
    // Just deleted, or not readable.
    if (errnoOf(error) === undefined) throw error
    return MISSING_FILE
  }
}
