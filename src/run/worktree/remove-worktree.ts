import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runGit, tryGit, unlessGitFails } from '../../git/run-git.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import { listFolder } from '../../journal/read-files.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import {
  IGNORED_PATHS,
  type RunTree,
  hiddenPaths,
  repositoryAt,
  requireOwnTree,
  uncommittedPaths,
} from './run-tree.ts'

/** Build output, which can be made again. */
const BUILD_OUTPUT =
  /^(?:node_modules|dist|build|target|\.venv|__pycache__|coverage|\.cache|.*\.log)$/

export function removeTreeIfClean(
  paths: ProjectPaths,
  { tree, isInPlace }: RunTree,
  say: (text: string) => void,
): boolean {
  if (isInPlace || repositoryAt(tree) === undefined) return false
  requireOwnTree(paths, { tree, isInPlace })
  const submodules = submodulesOf(tree)
  const left = findUnsavedPaths(tree, submodules)
  if (left.length > 0) {
    say(`the worktree ${tree} is left, as it holds what is in no commit: ${abbreviateList(left)}`)
    return false
  }
  // Without --force git removes no worktree with submodules.
  const how = submodules.length > 0 ? ['--force'] : []
  const remove = [...SAFE_CONFIG, 'worktree', 'remove', ...how, tree]
  // git checks first that nothing in it is changed.
  return tryGit(requireRepository(paths), remove, { hasFilters: true }) !== undefined
}

export function findUnsavedPaths(tree: string, submodules = submodulesOf(tree)): readonly string[] {
  const { gitDir } = repositoryAt(tree)!
  const found = [
    ...uncommittedPaths(tree),
    ...hiddenPaths(tree),
    ...ignoredResults(tree),
    ...modulesWithCommits(join(gitDir, 'modules')),
    ...submodules.flatMap((path) => unsavedInSubmodule(tree, path)),
  ]
  return [...new Set(found)]
}

export function abbreviateList(paths: readonly string[], most = 5): string {
  const more = paths.length > most ? ` and ${paths.length - most} more` : ''
  return `${paths.slice(0, most).join(', ')}${more}`
}

function ignoredResults(tree: string): readonly string[] {
  return runGit(tree, ['status', '--porcelain=v1', '-z', '--ignored', '--untracked-files=normal'])
    .split('\0')
    .filter((line) => line.startsWith('!! '))
    .map((line) => line.slice('!! '.length))
    .filter((path) => !path.split('/').some((part) => BUILD_OUTPUT.test(part)))
    .filter((path) => !IGNORED_PATHS.includes(path.split('/')[0]!))
}

function submodulesOf(tree: string): readonly string[] {
  return runGit(tree, ['ls-files', '--stage', '-z'])
    .split('\0')
    .filter((line) => line.startsWith('160000 '))
    .map((line) => line.slice(line.indexOf('\t') + 1))
}

function unsavedInSubmodule(tree: string, path: string): readonly string[] {
  const folder = join(tree, path)
  if (repositoryAt(folder) === undefined) return []
  const unsaved = unlessGitFails(() => [
    ...(hasOwnCommits(folder) ? [path] : []),
    ...findUnsavedPaths(folder).map((inside) => join(path, inside)),
  ])
  // An unreadable submodule may hold unsaved work.
  return unsaved ?? [path]
}

/** Commits on no remote, including those only in reflogs. */
function hasOwnCommits(repository: string): boolean {
  const list = 'rev-list --max-count=1 HEAD --all --reflog --not --remotes'.split(' ')
  return tryGit(repository, list) !== ''
}

/** Submodule repositories, including ones no longer checked out. A submodule name may contain slashes. */
function modulesWithCommits(folder: string, name = ''): readonly string[] {
  if (!existsSync(folder)) return []
  if (existsSync(join(folder, 'HEAD')))
    return [
      ...(hasOwnCommits(folder) ? [name] : []),
      ...modulesWithCommits(join(folder, 'modules'), name),
    ]
  return listFolder(folder).flatMap((part) =>
    modulesWithCommits(join(folder, part), join(name, part)),
  )
}
