import type { Level } from './finding.ts'

/**
 * How one tool begins to tell of something. The pattern's groups say what it is: `title`; `where`, or `file`, `line`
 * and `col`; `level`, in the tool's own word; `message`, which becomes the first line of the detail.
 */
export interface Rule {
  readonly level: Level
  readonly pattern: RegExp
  readonly follow?: Follow
  /** Names a failure that the tool tells more of elsewhere; never in the middle of another. */
  readonly isEcho?: true
  /** Begins nothing while another finding is being told: an exception inside of a failed test belongs to the test. */
  readonly isWeak?: true
  /** Goes on with a finding of the same rule instead of beginning another. */
  readonly isContinued?: true
  /** Groups `where` and `d` of the line before, for a tool that tells first what went wrong and then in what. */
  readonly before?: RegExp
  /** Holds only where such lines were announced, or behind the path they belong to. */
  readonly needs?: 'numbered' | 'path'
}

/** What to take from the lines behind a beginning. */
export interface Follow {
  /** How many of them to look at. */
  readonly lines: number
  readonly until?: RegExp
  /** Where the title itself stands, when it is not in the first line. */
  readonly title?: RegExp
  /** Group `d`, or the whole line. */
  readonly detail?: RegExp
  readonly most?: number
  /** Group `where`, or `file` and `line`. */
  readonly where?: RegExp
  /** Of several places the last is the one: a Python traceback ends where it happened. */
  readonly isLastPlace?: true
  /** It was no finding of its own after all. */
  readonly drop?: RegExp
  /** What it is once a place was found, and that it is nothing without one. */
  readonly located?: Level
  readonly needsPlace?: true
}
