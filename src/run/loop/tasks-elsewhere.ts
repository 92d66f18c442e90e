// A task may wait for one that another run did on a branch of its own, which is not merged here: worked on now, it would be
// built on code that lacks it.
import { GitFailed, askGit } from '../../git/run-git.ts'
import type { PlannedTask } from '../plan/contract.ts'
import { runIds } from '../../project/store/run-files.ts'
import { readRun } from '../run-log.ts'
import { foldRun } from '../run-state.ts'
import type { RunContext } from '../attempt/run-context.ts'
import type { RunEntry } from '../entries.ts'

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

// A task that a delegate has is not begun a second time: neither while it is worked on nor while its work waits to be merged.

/** Older delegates are merged or forgotten. */
const NEWEST_RUNS = 200

/** After these nothing of its work is under way. */
const OVER: ReadonlySet<string> = new Set(['merged', 'discarded', 'failed', 'parked'])

export class DelegatedTasks {
  readonly #scene: RunContext
  readonly #said = new Set<string>()

  constructor(scene: RunContext) {
    this.#scene = scene
  }

  has({ id }: PlannedTask): boolean {
    const { place } = this.#scene.workspace
    const holder = runIds(place)
      .slice(-NEWEST_RUNS)
      .map((run) => holderIn(readRun(place, run)))
      .find((one) => one?.task === id)
    if (holder === undefined) return false
    if (!this.#said.has(id)) {
      this.#said.add(id)
      const name = this.#scene.latest.backlog?.byId.get(id)?.shortname ?? id
      this.#scene.workspace.say(
        `${name} is left to the delegate ${holder.name} (stint delegate show ${holder.name})`,
      )
    }
    return true
  }
}

function holderIn(
  entries: readonly RunEntry[],
): { readonly name: string; readonly task: string } | undefined {
  const order = entries.find((entry) => entry.kind === 'run.started')?.data.delegate
  if (order?.task === undefined) return undefined
  const last = entries.findLast(({ kind }) =>
    ['run.started', 'run.resumed', 'delegate.moved', 'merge.begun'].includes(kind),
  )
  const isOver =
    last?.kind === 'delegate.moved' &&
    (OVER.has(last.data.to) || (order.isReadOnly && last.data.to === 'ready'))
  return isOver ? undefined : { name: order.name, task: order.task }
}
