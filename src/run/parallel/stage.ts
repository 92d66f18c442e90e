import type { RunContext } from '../attempt/run-context.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Purse } from './purse.ts'

/** What the parts of one parallel run share. */
export interface Stage extends Pick<
  RunContext,
  'run' | 'workspace' | 'log' | 'tree' | 'source' | 'stopping' | 'tell' | 'latest'
> {
  readonly settled: ResolvedOptions
  readonly purse: Purse
  readonly merges: InTurn
  readonly said: Set<string>
}

/** One after the other, in the order of asking. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve()

  add<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}
