// A task may wait for one that another run did on a branch of its own, which is not merged here: worked on now, it would be
// built on code that lacks it.
import { GitFailed, askGit } from '../../git/run-git.ts'
import type { PlannedTask } from '../plan/contract.ts'
import { runIds } from '../../project/store/run-files.ts'
import { readRun } from '../run-log.ts'
import { foldRun } from '../run-state.ts'
import type { RunContext } from '../attempt/run-context.ts'

/** Older runs are merged or forgotten. */
const RUNS = 100

type Seen = Pick<RunContext, 'workspace' | 'run' | 'latest' | 'tree'>

export class DoneElsewhere {
  readonly #scene: Seen
  readonly #commits = new Map<string, { readonly commit: string; readonly branch: string }>()
  readonly #said = new Set<string>()

  constructor(scene: Seen) {
    this.#scene = scene
    const { place } = scene.workspace
    for (const run of runIds(place)
      .filter((id) => id !== scene.run)
      .slice(-RUNS)) {
      const state = foldRun(readRun(place, run))
      for (const { commit, outcome, started } of state?.attempts ?? []) {
        if (outcome === 'done' && commit !== undefined)
          this.#commits.set(started.task.id, { commit, branch: state!.started.branch })
      }
    }
  }

  /** Whether everything that a task builds on is in the run's tree. */
  isHere({ id, dependsOn }: PlannedTask): boolean {
    const missing = dependsOn.find((other) => !this.#isReachable(other))
    if (missing === undefined) return true
    if (!this.#said.has(id)) {
      this.#said.add(id)
      const { latest, workspace } = this.#scene
      const name = (task: string) => latest.backlog?.byId.get(task)?.shortname ?? task
      const { branch } = this.#commits.get(missing)!
      workspace.say(
        `${name(id)} waits: ${name(missing)} was done on ${branch}, which is not merged here (git merge ${branch})`,
      )
    }
    return false
  }

  #isReachable(task: string): boolean {
    const done = this.#commits.get(task)
    if (done === undefined) return true
    try {
      return askGit(this.#scene.tree.tree, ['merge-base', '--is-ancestor', done.commit, 'HEAD'])
    } catch (error) {
      // The commit is gone, with a branch that somebody removed: they know why.
      if (error instanceof GitFailed) return true
      throw error
    }
  }
}
