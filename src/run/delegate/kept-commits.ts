import { basename } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import { GitFailed, askGit, runGit, tryGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { type RunTree, commitOf, headNow, repositoryAt } from '../worktree/tree.ts'
import type { DelegateState } from './delegates.ts'

/** Where branches are looked at and moved: a folder that is there in every repository, a bare one included. */
export function inRepository(place: Place, ...args: readonly string[]): string {
  return runGit(repositoryOf(place).commonDir, args)
}

/** What a commit has in its history once it has for ever. */
const contained = new Set<string>()

export function contains(place: Place, commit: string, ancestor: string): boolean {
  const { commonDir } = repositoryOf(place)
  const key = `${commonDir} ${ancestor} ${commit}`
  if (contained.has(key)) return true
  const isContained = askGit(commonDir, ['merge-base', '--is-ancestor', ancestor, commit])
  if (isContained) contained.add(key)
  return isContained
}

export function hasCommit(place: Place, commit: string): boolean {
  try {
    inRepository(place, 'cat-file', '-e', `${commit}^{commit}`)
    return true
  } catch (error) {
    if (error instanceof GitFailed && error.status !== undefined) return false
    throw error
  }
}

/** A list is shown anew several times a second, and between two commits nothing is ever added. */
const counted = new Map<string, number>()

/** How many commits a delegate has beyond where it began, by the first of these that is still there: its branch may be gone. */
export function commitsBeyond(
  { repository }: Place,
  base: string,
  tips: readonly (string | undefined)[],
): number {
  if (repository === undefined) return 0
  for (const name of tips) {
    const tip = name?.startsWith('refs/') === true ? commitOfRef(repository, name) : name
    if (tip === undefined) continue
    if (tip === base) return 0
    const range = `${base}..${tip}`
    const count =
      counted.get(range) ?? tryGit(repository.mainRoot, ['rev-list', '--count', range, '--'])
    if (count === undefined) continue
    counted.set(range, Number(count))
    return Number(count)
  }
  return 0
}

/** The name under which it is kept until it is merged or discarded. */
function provedRef(delegate: string): string {
  return `refs/stint/runs/${delegate}/proved`
}

export function keepProved(place: Place, delegate: string, commit: string | undefined): void {
  if (commit === undefined) return
  const note = ['-m', 'stint: keep what is proved']
  try {
    inRepository(place, ...QUIETLY, 'update-ref', ...note, provedRef(delegate), commit)
  } catch (error) {
    // A commit that somebody has collected by hand cannot be kept.
    if (!(error instanceof GitFailed) || hasCommit(place, commit)) throw error
  }
}

/** Lets go of it where another commit, which is kept, has it in its history. */
export function letGoOfProved(place: Place, delegate: string, by: string): void {
  const proved = commitOfRef(repositoryOf(place), provedRef(delegate))
  if (proved === undefined || !contains(place, by, proved)) return
  // One that moved in between stays.
  tryGit(repositoryOf(place).commonDir, [
    ...QUIETLY,
    'update-ref',
    '-d',
    provedRef(delegate),
    proved,
  ])
}

/** The commit to go by in place of the branch: it was proved, and somebody has taken the branch away or set it back to where it began. */
export function provedInstead(
  place: Place,
  {
    tip,
    base,
    proved,
  }: {
    readonly tip: string | undefined
    readonly base: string
    readonly proved: string | undefined
  },
): string | undefined {
  if (proved === undefined || tip === proved || !hasCommit(place, proved)) return undefined
  if (tip === undefined) return proved
  const isSetBack = contains(place, base, tip) && !contains(place, tip, proved)
  return isSetBack ? proved : undefined
}

/** So many are more than anybody looks through. */
const MOST = 50

/** Keeps every commit of a delegate that is on no branch, before its worktree or branch is taken away. Made again, it adds nothing. */
export function keepStrayCommits(
  place: Place,
  state: DelegateState,
  say: (text: string) => void,
): void {
  const tips = strayTips(place, state)
  if (tips.length === 0) return
  const { commonDir } = repositoryOf(place)
  const ref = `refs/stint/runs/${state.id}/lost-`
  const taken = runGit(commonDir, ['for-each-ref', '--format=%(refname)', `${ref}*`])
    .split('\n')
    .map((name) => Number(name.slice(ref.length)))
  const first = Math.max(0, ...taken) + 1
  const lines = tips
    .slice(0, MOST)
    .map((commit, index) => `create ${ref}${first + index} ${commit}\n`)
  runGit(
    commonDir,
    [...QUIETLY, 'update-ref', '-m', 'stint: keep what is on no branch', '--stdin'],
    { input: lines.join('') },
  )
  const { name } = state.order
  if (tips.length > MOST)
    say(`${name}: ${tips.length} times commits were left on no branch; the newest ${MOST} are kept`)
  say(`${name}: commits of it that are on no branch are kept: git log ${ref}${first}`)
}

/** The newest of each line of commits that no reference leads to, the newest first. */
function strayTips(place: Place, state: DelegateState): readonly string[] {
  const made = commitsMade(place, state)
  if (made.length === 0) return []
  const kept = ['--not', '--branches', '--tags', '--remotes', '--glob=refs/stint/*']
  const found = runGit(
    repositoryOf(place).commonDir,
    // Not by --all, to which the HEAD of the worktree itself belongs.
    ['rev-list', '--ignore-missing', '--parents', '--stdin', ...kept],
    { input: `${made.join('\n')}\n` },
  )
  const lines = found.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]))
  const inside = new Set(lines.flatMap(([, ...parents]) => parents))
  return lines.map(([commit]) => commit!).filter((commit) => !inside.has(commit))
}

/** Everything that its HEAD or its branch was ever at, and what its log speaks of, should git keep no reflogs. */
function commitsMade(place: Place, { ready, run }: DelegateState): readonly string[] {
  const { branch, tree } = run.started
  const { commonDir } = repositoryOf(place)
  const gitDir = repositoryAt(tree)?.gitDir
  return [
    ...new Set(
      [
        ...reflog(commonDir, `worktrees/${basename(gitDir ?? tree)}/HEAD`),
        ...reflog(commonDir, `refs/heads/${branch}`),
        headNow(tree)?.commit,
        ready?.commit,
        ...run.attempts.map(({ commit }) => commit),
      ].filter((commit) => commit !== undefined),
    ),
  ]
}

function reflog(repository: string, name: string): readonly string[] {
  // There is none of a worktree or branch that is gone.
  const printed = tryGit(repository, ['log', '--walk-reflogs', '--format=%H', name, '--']) ?? ''
  return printed.split('\n').filter((line) => line !== '')
}

/** Takes away the worktree of a delegate, and its branch when that is at `tip`. Only for what is kept elsewhere. */
export function removeTree(
  place: Place,
  { branch, tree }: Pick<RunTree, 'branch' | 'tree'>,
  tip: string | undefined,
): void {
  const { mainRoot } = repositoryOf(place)
  try {
    if (repositoryAt(tree) !== undefined)
      runGit(mainRoot, [...QUIETLY, 'worktree', 'remove', '--force', tree])
    else runGit(mainRoot, ['worktree', 'prune'])
    if (
      tip !== undefined &&
      commitOf(mainRoot, branch) === tip &&
      !isCheckedOut(mainRoot, branch)
    ) {
      runGit(mainRoot, [...QUIETLY, 'update-ref', '-d', `refs/heads/${branch}`, tip])
    }
  } catch (error) {
    // A worktree that is locked or in use stays; it is in nobody's way.
    if (!(error instanceof GitFailed)) throw error
  }
}

function isCheckedOut(root: string, branch: string): boolean {
  return runGit(root, ['worktree', 'list', '--porcelain', '-z'])
    .split('\0')
    .includes(`branch refs/heads/${branch}`)
}
