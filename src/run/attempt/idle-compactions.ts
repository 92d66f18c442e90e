import { fingerprint } from '../worktree/tree.ts'

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
