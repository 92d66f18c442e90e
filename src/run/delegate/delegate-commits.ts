import { basename } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import {
  GitFailed,
  type GitOptions,
  gitSucceeds,
  runGit,
  tryGit,
  unlessGitFails,
  writeGit,
} from '../../git/run-git.ts'
import type { Repository } from '../../git/repository.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { type RunTree, readTreeHead, repositoryAt, requireOwnTree } from '../worktree/run-tree.ts'
import type { DelegateState } from './delegates.ts'

export function runGitInRepository(paths: ProjectPaths, ...args: readonly string[]): string {
  return runGit(requireRepository(paths), args)
}

/** As Stint's own act, without the user's hooks. */
export function writeInRepository(
  paths: ProjectPaths,
  args: readonly string[],
  options: GitOptions = {},
): string {
  return writeGit(requireRepository(paths), [...SAFE_CONFIG, ...args], options)
}

/** A commit's history never changes, so the answer can be cached. */
const contained = new Set<string>()

export function containsCommit(paths: ProjectPaths, commit: string, ancestor: string): boolean {
  const repository = requireRepository(paths)
  const key = `${repository.commonDir} ${ancestor} ${commit}`
  if (contained.has(key)) return true
  const isContained = gitSucceeds(repository, ['merge-base', '--is-ancestor', ancestor, commit])
  if (isContained) contained.add(key)
  return isContained
}

export function hasCommit(paths: ProjectPaths, commit: string): boolean {
  const exists = () => runGitInRepository(paths, 'cat-file', '-e', `${commit}^{commit}`)
  return unlessGitFails(exists, (status) => status !== undefined) !== undefined
}

/** A list is printed several times a second, and the count between two commits never changes. */
const counted = new Map<string, number>()

export function countCommitsBeyond(
  { repository }: ProjectPaths,
  base: string,
  tips: readonly (string | undefined)[],
): number {
  if (repository === undefined) return 0
  for (const name of tips) {
    const tip = name?.startsWith('refs/') === true ? commitOfRef(repository, name) : name
    if (tip === undefined) continue
    if (tip === base) return 0
    const range = `${base}..${tip}`
    const count = counted.get(range) ?? tryGit(repository, ['rev-list', '--count', range, '--'])
    if (count === undefined) continue
    counted.set(range, Number(count))
    return Number(count)
  }
  return 0
}

function provedRef(delegate: string) {
  return `refs/stint/runs/${delegate}/proved`
}

export function saveProvedRef(
  paths: ProjectPaths,
  delegate: string,
  commit: string | undefined,
): void {
  if (commit === undefined) return
  const note = ['-m', 'stint: keep what is proved']
  try {
    writeInRepository(paths, ['update-ref', ...note, provedRef(delegate), commit])
  } catch (error) {
    // A commit that was garbage-collected cannot be saved.
    if (!(error instanceof GitFailed) || hasCommit(paths, commit)) throw error
  }
}

export function deleteProvedRef(paths: ProjectPaths, delegate: string, by: string): void {
  const repository = requireRepository(paths)
  const ref = provedRef(delegate)
  const proved = commitOfRef(repository, ref)
  if (proved === undefined || !containsCommit(paths, by, proved)) return
  unlessGitFails(() => writeInRepository(paths, ['update-ref', '-d', ref, proved]))
}

/** The proved commit, if the branch was deleted or reset to its base. */
export function provedCommitIfLost(
  paths: ProjectPaths,
  { tip, base, proved }: { tip: string | undefined; base: string; proved: string | undefined },
): string | undefined {
  if (proved === undefined || tip === proved || !hasCommit(paths, proved)) return undefined
  if (tip === undefined) return proved
  const isReset = containsCommit(paths, base, tip) && !containsCommit(paths, tip, proved)
  return isReset ? proved : undefined
}

const MOST = 50

/** Saves commits that are on no branch under refs before the worktree or branch is removed. Repeating it adds nothing. */
export function saveOrphanedCommits(
  paths: ProjectPaths,
  state: DelegateState,
  say: (text: string) => void,
): void {
  requireOwnTree(paths, state.run.started)
  const tips = findOrphanedTips(paths, state)
  if (tips.length === 0) return
  const ref = `refs/stint/runs/${state.id}/lost-`
  const taken = runGitInRepository(paths, 'for-each-ref', '--format=%(refname)', `${ref}*`)
    .split('\n')
    .map((name) => Number(name.slice(ref.length)))
  const first = Math.max(0, ...taken) + 1
  const input = tips.slice(0, MOST).map((tip, index) => `create ${ref}${first + index} ${tip}\n`)
  const update = ['update-ref', '-m', 'stint: keep what is on no branch', '--stdin']
  writeInRepository(paths, update, { input: input.join('') })
  const { name } = state.order
  if (tips.length > MOST)
    say(`${name}: ${tips.length} times commits were left on no branch; the newest ${MOST} are kept`)
  say(`${name}: commits of it that are on no branch are kept: git log ${ref}${first}`)
}

function findOrphanedTips(paths: ProjectPaths, { ready, run }: DelegateState) {
  const { branch, tree } = run.started
  const repository = requireRepository(paths)
  const folder = basename(repositoryAt(tree)?.gitDir ?? tree)
  // Includes the commits in its log, in case git keeps no reflogs.
  const made = [
    ...reflog(repository, `worktrees/${folder}/HEAD`),
    ...reflog(repository, `refs/heads/${branch}`),
    readTreeHead(tree)?.commit,
    ready?.commit,
    ...run.attempts.map(({ commit }) => commit),
  ].filter((commit) => commit !== undefined)
  if (made.length === 0) return []
  // Not --all, which would include the worktree's own HEAD.
  const kept = ['--not', '--branches', '--tags', '--remotes', '--glob=refs/stint/*']
  const list = ['rev-list', '--ignore-missing', '--parents', '--stdin', ...kept]
  const found = runGit(repository, list, { input: `${[...new Set(made)].join('\n')}\n` })
  const lines = found.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]))
  const inside = new Set(lines.flatMap(([, ...parents]) => parents))
  return lines.map(([commit]) => commit!).filter((commit) => !inside.has(commit))
}

function reflog(repository: Repository, name: string) {
  // A worktree or branch that is gone has none.
  const printed = tryGit(repository, ['log', '--walk-reflogs', '--format=%H', name, '--']) ?? ''
  return printed.split('\n').filter((line) => line !== '')
}

/** Removes a delegate's worktree, and its branch if that is at `tip`. The work must be saved elsewhere. */
export function removeDelegateTree(
  paths: ProjectPaths,
  { branch, tree }: Pick<RunTree, 'branch' | 'tree'>,
  tip: string | undefined,
): void {
  requireOwnTree(paths, { tree, isInPlace: false })
  const repository = requireRepository(paths)
  const isCheckedOut = () =>
    runGit(repository, ['worktree', 'list', '--porcelain', '-z'])
      .split('\0')
      .includes(`branch refs/heads/${branch}`)
  try {
    if (repositoryAt(tree) !== undefined)
      writeInRepository(paths, ['worktree', 'remove', '--force', tree])
    else writeInRepository(paths, ['worktree', 'prune'])
    const ref = `refs/heads/${branch}`
    if (tip !== undefined && commitOfRef(repository, ref) === tip && !isCheckedOut())
      writeInRepository(paths, ['update-ref', '-d', ref, tip])
  } catch (error) {
    // A worktree that is locked or in use stays.
    if (!(error instanceof GitFailed)) throw error
  }
}
