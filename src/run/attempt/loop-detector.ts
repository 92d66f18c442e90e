import type { HarnessEvent } from '../../harness/contract/drive.ts'
import { fingerprint } from '../worktree/tree.ts'

const TIMES = 3
const LONGEST = 400

/** Notices an agent that does the same thing again and again and gets the same error, while nothing in the tree changes. */
export class SameError {
  readonly #fingerprint: () => string
  #last = ''
  #times = 0

  constructor(fingerprint: () => string) {
    this.#fingerprint = fingerprint
  }

  /** Answers what happened when it happened once too often. */
  saw(event: Extract<HarnessEvent, { type: 'tool' }>): string | undefined {
    if (event.status !== 'failed') return undefined
    // After a change the same error may have another cause, whichever way it was changed.
    const sign = [
      event.name,
      event.command ?? event.path ?? '',
      signOf(event.output ?? ''),
      this.#fingerprint(),
    ].join('\n')
    this.#times = sign === this.#last ? this.#times + 1 : 1
    this.#last = sign
    if (this.#times < TIMES) return undefined
    this.#times = 0
    return `${event.command ?? event.path ?? event.name} failed ${TIMES} times in the same way`
  }
}

// Times, durations and addresses differ between two runs of the same failure.
function signOf(output: string): string {
  return output
    .slice(-LONGEST)
    .replaceAll(/0x[0-9a-f]+|\d+(?:[.,:]\d+)*/gi, '#')
    .trim()
}

/** Sees a turn that is compacted again and again and gets nowhere. Otherwise it would go on for as long as a task may take. */
export class IdleCompactions {
  readonly #tree: string
  readonly #most: number
  #last: string | undefined
  #idle = 0

  constructor(tree: string, most: number) {
    this.#tree = tree
    this.#most = most
  }

  /** To be told of each compaction; answers what is wrong once it is one too many. */
  compacted(): string | undefined {
    const now = fingerprint(this.#tree)
    this.#idle = now === this.#last ? this.#idle + 1 : 0
    this.#last = now
    return this.#idle < this.#most
      ? undefined
      : `nothing in the tree changed from one compaction to the next, ${this.#idle} times`
  }
}
