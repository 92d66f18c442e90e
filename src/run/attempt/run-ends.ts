import type { EndOfRun } from '../report.ts'

/** The run ends here, whatever it was about to do; what was begun goes on when it is resumed. */
export class RunEnds extends Error {
  override readonly name = 'RunEnds'
  constructor(
    readonly how: EndOfRun,
    readonly because: string,
  ) {
    super(because)
  }
}
