// Commits that an agent made and then left, by an amended commit, a reset or a HEAD on no branch, are known to the reflogs of its
// worktree and branch alone, and those go with them.
import { basename } from 'node:path'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { headNow, repositoryAt } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { DelegateState } from './delegate-state.ts'

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
  try {
    return runGit(repository, ['log', '--walk-reflogs', '--format=%H', name, '--'])
      .split('\n')
      .filter((line) => line !== '')
  } catch (error) {
    // There is no such worktree or branch any more, and so no reflog.
    if (error instanceof GitFailed) return []
    throw error
  }
}
