// A task that a delegate has is not begun a second time: neither while it is worked on nor while its work waits to be merged.
import type { PlannedTask } from '../plan/contract.ts'
import { runIds } from '../../project/store/run-files.ts'
import type { RunEntry } from '../entries.ts'
import { readRun } from '../run-log.ts'
import type { RunContext } from '../attempt/run-context.ts'

/** Older delegates are merged or forgotten. */
const RUNS = 200

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
      .slice(-RUNS)
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
