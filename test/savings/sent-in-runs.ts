// What runs of the real Claude Code sent to its model, in tokens, counted in the requests themselves by
// test/harness/sent-in-runs.harness.test.ts, which also says when one of these is no longer right.

/** How many tasks, and in how many conversations. */
export interface CountedRun {
  readonly tasks: number
  readonly conversations: 'each' | 'one'
  /** The set-up and the texts about tasks, as often as they were said. To the token. */
  readonly said: number
  /** What conversations were told of the one before them. This and the rest is rounded: ids and times are not the same twice. */
  readonly handoffs: number
  /** The first requests of conversations, with what the harness says itself. */
  readonly starts: number
  readonly input: number
}

export const COUNTED_RUNS: readonly CountedRun[] = [
  { tasks: 5, conversations: 'each', said: 2855, handoffs: 2400, starts: 65_500, input: 263_000 },
  { tasks: 5, conversations: 'one', said: 607, handoffs: 0, starts: 12_600, input: 258_000 },
  { tasks: 10, conversations: 'each', said: 5710, handoffs: 5700, starts: 132_000, input: 530_000 },
  { tasks: 10, conversations: 'one', said: 652, handoffs: 0, starts: 12_600, input: 528_000 },
  {
    tasks: 50,
    conversations: 'each',
    said: 28_550,
    handoffs: 31_400,
    starts: 664_000,
    input: 2_664_000,
  },
  { tasks: 50, conversations: 'one', said: 1012, handoffs: 0, starts: 12_600, input: 3_128_000 },
]

/** What the architecture that Stint began from claimed. */
export const CLAIMED: Readonly<Record<number, readonly [each: number, one: number]>> = {
  5: [3535, 1207],
  10: [7070, 1707],
  50: [35_350, 5707],
}
