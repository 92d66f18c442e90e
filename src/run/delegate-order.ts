/** What a delegate was asked for, as its log keeps it. A delegate is a run of one task in the background. */
export interface DelegateOrder {
  /** What people call it; no two delegates of a project have the same. */
  readonly name: string
  /** The order in the words it was given in. */
  readonly what: string
  /** The specialist it works as. */
  readonly as?: string
  readonly group?: string
  /** The id of the backlog's task that it works on. Without one it has no task but its order. */
  readonly task?: string
  /** The session that it works for: its result goes there. */
  readonly parent?: string
  /** The run that it is a part of. */
  readonly run?: string
  /** The branch that its work is to go to. */
  readonly target: string
  /** It reads and reports; nothing of it is merged. */
  readonly isReadOnly: boolean
  /** Globs of the files it is expected to change. */
  readonly files: readonly string[]
  /** A path in its tree that it has to bring forth. */
  readonly output?: string
  /** The lowest number that no other living delegate has: its ports follow from it. */
  readonly slot: number
  /** What its task file says behind the order: what it should know, and what it has to bring forth. */
  readonly brief: string
}

/** Where a delegate stands. */
export type DelegateStatus =
  | 'running'
  | 'ready'
  | 'merging'
  | 'merged'
  | 'conflicted'
  | 'failed'
  | 'parked'
  | 'discarded'

/** A step of a delegate, with what the next one has to know of it. */
export interface DelegateMove {
  readonly to: Exclude<DelegateStatus, 'running' | 'merging'>
  readonly because?: string
  /** `ready`: what was proved. `merged`: what the target was moved to. */
  readonly commit?: string
  /** `merged`, `discarded`: how many commits it had beyond where it began. */
  readonly commits?: number
  /** What the agent said of its work. */
  readonly summary?: string
  /** Of what did not go into the target: the branch, and the commit it stood at. */
  readonly target?: string
  readonly onto?: string
  /** Paths in conflict. */
  readonly files?: readonly string[]
  readonly verify?: { readonly command: string; readonly exit?: number; readonly output: string }
  /** A reference under which work is kept that is on no branch. */
  readonly kept?: string
  /** What is in no commit, so that its worktree stays, and its branch too. */
  readonly left?: readonly string[]
  /** The report of one that only reads, as a path in `.sessions/`. */
  readonly report?: string
  /** Address of a pull request. */
  readonly pr?: string
}
