import { GitFailed, type GitOptions, runGit } from '../../../git/run-git.ts'

/** For everything that is asked together. A repository that needs longer gets `could not be checked`. */
export const GIT_BUDGET_MS = 10_000

/** git, for as long as all of its answers together may take: a handoff is made in the background and never waits. */
export class BoundedGit {
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

  /** For questions that git answers by its exit code. */
  ask(args: readonly string[]): boolean {
    try {
      this.run(args)
      return true
    } catch (error) {
      if (error instanceof GitFailed && error.status !== undefined) return false
      throw error
    }
  }

  /** Does something with git in the time that is left. */
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
