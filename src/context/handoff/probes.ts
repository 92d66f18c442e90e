// Each claim carries its verdict, so that an unchecked claim is never passed on as a fact.
import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { shellCommands } from '../../command/shell-commands.ts'
import { ASSIGNMENT, programOf } from '../../command/unwrap-command.ts'
import { type Head, readHead } from '../../git/head.ts'
import type { Repository } from '../../git/repository.ts'
import { GitFailed, type GitOptions, runGit } from '../../git/run-git.ts'
import { dirtyPaths } from '../../git/status.ts'
import { errnoOf } from '../../journal/errors.ts'
import type { TaskStatus } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { defined } from '../../text/defined.ts'

export type Verdict =
  | { readonly isVerified: true; readonly probe: string; readonly commit?: string }
  | { readonly isVerified: false; readonly why: string }

export interface HandoffClaim {
  readonly says: string
  readonly verdict: Verdict
}

export function verified(probe: string, commit?: string): Verdict {
  return { isVerified: true, probe, ...defined({ commit }) }
}

export function unverified(why: string): Verdict {
  return { isVerified: false, why }
}

export function couldNotBeChecked(reason: string): Verdict {
  return unverified(`could not be checked: ${reason}`)
}

/** `verified (HEAD, abc1234)`, `unverified (main is checked out)` */
export function verdictTag(verdict: Verdict): string {
  if (!verdict.isVerified) return `unverified (${verdict.why})`
  const { probe, commit } = verdict
  return `verified (${commit === undefined ? probe : `${probe}, ${shortCommit(commit)}`})`
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 7)
}

/** Changes to Stint's own folders are not part of the work. */
export const STINT_FOLDERS: readonly string[] = ['.sessions', '.tasks']

const GIT_BUDGET_MS = 10_000

/** All git calls of a handoff share one time limit. */
class BoundedGit {
  #leftMs: number

  constructor(
    readonly worktree: string,
    budgetMs = GIT_BUDGET_MS,
  ) {
    this.#leftMs = budgetMs
  }

  run(args: readonly string[]): string {
    return this.spend(args, (options) => runGit(this.worktree, args, options))
  }

  ask(args: readonly string[]): boolean {
    try {
      this.run(args)
      return true
    } catch (error) {
      if (error instanceof GitFailed && error.status !== undefined) return false
      throw error
    }
  }

  spend<T>(args: readonly string[], work: (options: GitOptions) => T): T {
    if (this.#leftMs < 1) throw new GitFailed(args, undefined, '', 'it took too long before')
    const start = process.hrtime.bigint()
    try {
      return work({ timeoutMs: Math.ceil(this.#leftMs) })
    } finally {
      this.#leftMs -= Number(process.hrtime.bigint() - start) / 1e6
    }
  }
}

/** Read once, because `git status` is slow. */
export interface WorkingTreeState {
  readonly root: string
  readonly repository?: Repository
  readonly git?: BoundedGit
  readonly head: Head
  /** Undefined if git failed. */
  readonly dirty?: readonly string[]
  readonly whyUnknown?: string
}

export function readWorkingTree(
  root: string,
  repository: Repository | undefined,
  budgetMs?: number,
): WorkingTreeState {
  if (repository === undefined) return { root, head: {} }
  const git = new BoundedGit(repository.worktree, budgetMs)
  const found = { root: repository.worktree, repository, git }
  let head: Head = {}
  try {
    head = git.spend(['rev-parse'], ({ timeoutMs }) => readHead(repository, timeoutMs))
    const dirty = git.spend(['status'], (options) =>
      dirtyPaths(git.worktree, STINT_FOLDERS, options),
    )
    return { ...found, head, dirty }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return { ...found, head, whyUnknown: error.message }
  }
}

/** A failed check never counts as verified. */
function withGit(now: WorkingTreeState, probe: (git: BoundedGit) => Verdict) {
  if (now.git === undefined) return couldNotBeChecked('there is no git repository here')
  try {
    return probe(now.git)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return couldNotBeChecked(error.message)
  }
}

export function probeBranch(now: WorkingTreeState, branch: string): Verdict {
  return withGit(now, (git) => {
    const { branch: current, commit } = now.head
    if (current === branch) return verified('branch', commit)
    if (!git.ask(['show-ref', '--verify', '--quiet', `refs/heads/${branch}`]))
      return unverified('there is no such branch')
    return unverified(`${current ?? 'no branch'} is checked out`)
  })
}

/** A recorded commit may be on a lost branch. */
export function probeReachable(now: WorkingTreeState, commit: string): Verdict {
  return withGit(now, (git) => {
    const { commit: head } = now.head
    if (!/^[0-9a-f]{4,64}$/.test(commit)) return couldNotBeChecked('it is no name of a commit')
    if (head === undefined) return couldNotBeChecked('HEAD names no commit')
    if (!git.ask(['cat-file', '-e', `${commit}^{commit}`]))
      return unverified('this repository does not have it')
    const isBehind = git.ask(['merge-base', '--is-ancestor', commit, head])
    return isBehind ? verified('history', head) : unverified('it is not in the history of HEAD')
  })
}

export function probeSavedCode(
  now: WorkingTreeState,
  { commit, ref }: { readonly commit: string; readonly ref: string },
): Verdict {
  return withGit(now, (git) => {
    if (!ref.startsWith('refs/stint/')) return unverified(`${ref} is no name of kept code`)
    if (!git.ask(['show-ref', '--verify', '--quiet', ref]))
      return unverified('this repository does not have it')
    const found = git.run(['rev-parse', '--verify', `${ref}^{commit}`]).trim()
    return found === commit
      ? verified('kept code', found)
      : unverified(`the name means ${shortCommit(found)} now`)
  })
}

export function probeWorkingTree({
  repository,
  dirty,
  whyUnknown,
  head,
}: WorkingTreeState): Verdict {
  if (repository === undefined) return couldNotBeChecked('there is no git repository here')
  if (dirty === undefined) return couldNotBeChecked(whyUnknown ?? 'git did not say')
  return verified('working tree', head.commit)
}

export function probeTask(claimed: TaskStatus, inBacklog: TaskStatus | undefined): Verdict {
  if (inBacklog === undefined) return couldNotBeChecked('the backlog here does not have it')
  return inBacklog === claimed ? verified('backlog') : unverified(`the backlog says ${inBacklog}`)
}

export function probeFile(now: WorkingTreeState, path: string): Verdict {
  const inside = relativeInside(now.root, path)
  if (inside === undefined) return couldNotBeChecked('it lies outside of the project')
  return existsSync(resolve(now.root, inside))
    ? verified('file', now.head.commit)
    : unverified('there is no such file')
}

export function relativeInside(root: string, path: string): string | undefined {
  if (path === '' || path.includes('\0')) return undefined
  const fullPath = resolve(root, path)
  const withoutLine = existsSync(fullPath)
    ? fullPath
    : resolve(root, path.replace(/:\d+(?:[:-]\d+)?$/, ''))
  const inside = relative(root, withoutLine)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? undefined : inside
}

const BUILT_IN = new Set(
  'cd export source . set alias eval exec test [ true false echo printf ulimit umask unset wait'.split(
    ' ',
  ),
)

export function probeProgram(
  now: WorkingTreeState,
  command: string,
  path = process.env.PATH ?? '',
): Verdict {
  const programs = shellCommands(command)
    .map(({ words }) => words.find((word) => !ASSIGNMENT.test(word)) ?? '')
    .filter((word) => word !== '' && !BUILT_IN.has(word))
  if (programs.length === 0) return couldNotBeChecked('it starts no program by name')
  const missing = programs.find((program) => !isInstalled(now.root, program, path))
  if (missing !== undefined) return unverified(`${programOf([missing])} is not on this machine`)
  return verified('program')
}

function isInstalled(root: string, program: string, path: string) {
  if (program.includes('/')) return isExecutable(resolve(root, program))
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  return [...folders, join(root, 'node_modules', '.bin')].some((folder) =>
    isExecutable(join(folder, program)),
  )
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return false
  }
}

// File system clocks tick coarsely, so a change may be stamped slightly before its entry.
const TICK_MS = 20

/** Compares ctimes, which tools cannot set back. */
export function probeTestRun(
  now: WorkingTreeState,
  command: string,
  entries: readonly RawEntry[],
  changed: readonly string[] = [],
): Verdict {
  const at = entries.findLastIndex(
    ({ kind, data }) => kind === 'test.ran' && data.command === command,
  )
  const run = entries[at]
  if (run === undefined) return unverified('no run of it is recorded')
  if (run.data.passed !== true) return unverified('it failed when it last ran; run it again')
  if (now.repository === undefined)
    return couldNotBeChecked('there is no git repository to tell what changed since')
  if (now.dirty === undefined)
    return couldNotBeChecked(now.whyUnknown ?? 'git did not say what changed')
  const ranAt = Date.parse(run.at)
  if (Number.isNaN(ranAt)) return couldNotBeChecked('when it ran is not known')
  const { gitDir } = now.repository
  const headMovedAt = changedAt(join(gitDir, 'logs', 'HEAD'))
  if (headMovedAt === undefined) return couldNotBeChecked('git keeps no record of when HEAD moved')
  const isLater = (time: number | undefined) => time !== undefined && time > ranAt - TICK_MS
  const isChange = ({ kind }: RawEntry) => kind === 'file.changed' || kind === 'commit.made'
  let moved: string | undefined
  if (isLater(headMovedAt)) moved = 'HEAD'
  else if (isLater(changedAt(join(gitDir, 'index')))) moved = 'the index'
  else moved = [...now.dirty, ...changed].find((path) => isLater(lastChangedAt(now.root, path)))
  if (moved === undefined && entries.slice(at + 1).some(isChange)) moved = 'what the journal tells'
  return moved === undefined
    ? verified('test run', now.head.commit)
    : unverified(`${moved} changed since; run it again`)
}

/** For a deleted file, the ctime of its nearest existing folder. */
function lastChangedAt(root: string, path: string) {
  for (let current = resolve(root, path); ; current = dirname(current)) {
    const time = changedAt(current)
    if (time !== undefined || current === dirname(current)) return time
  }
}

// ctime, because tools can set mtime.
function changedAt(path: string) {
  return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs
}
