import { type Head, readHead } from '../../../git/head.ts'
import type { Repository } from '../../../git/repository.ts'
import { GitFailed } from '../../../git/run-git.ts'
import { dirtyPaths } from '../../../git/status.ts'
import { BoundedGit } from './bounded-git.ts'
import { type Verdict, couldNotBeChecked } from './claim.ts'

/** What Stint keeps in a project. Its changes are not work that is handed over. */
export const OWN_FOLDERS: readonly string[] = ['.sessions', '.tasks']

/** Where a handoff is made or taken up, as it is now. git is asked for its status once. */
export interface Surroundings {
  /** What paths in a handoff start from. */
  readonly root: string
  readonly repository?: Repository
  readonly git?: BoundedGit
  readonly head: Head
  /** Paths with uncommitted changes. Undefined when git did not say, or there is no repository. */
  readonly dirty?: readonly string[]
  /** Why nothing is known about uncommitted changes. */
  readonly whyUnknown?: string
}

export function lookAround(
  root: string,
  repository: Repository | undefined,
  budgetMs?: number,
): Surroundings {
  if (repository === undefined) return { root, head: {} }
  const git = new BoundedGit(repository.worktree, budgetMs)
  const found = { root: repository.worktree, repository, git }
  try {
    const head = git.spend(['rev-parse'], ({ timeoutMs }) => readHead(repository, timeoutMs))
    return { ...found, head, ...dirtyNow(git) }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return { ...found, head: {}, whyUnknown: error.message }
  }
}

function dirtyNow(git: BoundedGit): { dirty: readonly string[] } | { whyUnknown: string } {
  try {
    return {
      dirty: git.spend(['status'], (options) => dirtyPaths(git.worktree, OWN_FOLDERS, options)),
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return { whyUnknown: error.message }
  }
}

/** The answer of git to a probe's question; one that it does not give is never a yes. */
export function whenAnswered(now: Surroundings, look: (git: BoundedGit) => Verdict): Verdict {
  if (now.git === undefined) return couldNotBeChecked('there is no git repository here')
  try {
    return look(now.git)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return couldNotBeChecked(error.message)
  }
}
