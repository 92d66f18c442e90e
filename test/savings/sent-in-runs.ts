// Tokens that runs of the real Claude Code sent to its model, counted in the requests by
// test/harness/sent-in-runs.harness.test.ts, which fails when a figure is no longer right.

export interface CountedRun {
  readonly tasks: number
  readonly conversations: 'each' | 'one'
  /** The set-up and the task texts, each time they were sent. Exact. */
  readonly prompts: number
  /** Handoffs between conversations. Rounded from here on, because ids and times differ between runs. */
  readonly handoffs: number
  /** The first requests of conversations, including the harness's own text. */
  readonly starts: number
  readonly input: number
}

export const COUNTED_RUNS: readonly CountedRun[] = [
  {
    tasks: 5,
    conversations: 'each',
    prompts: 2855,
    handoffs: 2400,
    starts: 65_500,
    input: 263_000,
  },
  { tasks: 5, conversations: 'one', prompts: 607, handoffs: 0, starts: 12_600, input: 258_000 },
  {
    tasks: 10,
    conversations: 'each',
    prompts: 5710,
    handoffs: 5700,
    starts: 132_000,
    input: 530_000,
  },
  { tasks: 10, conversations: 'one', prompts: 652, handoffs: 0, starts: 12_600, input: 528_000 },
  {
    tasks: 50,
    conversations: 'each',
    prompts: 28_550,
    handoffs: 31_400,
    starts: 664_000,
    input: 2_664_000,
  },
  { tasks: 50, conversations: 'one', prompts: 1012, handoffs: 0, starts: 12_600, input: 3_128_000 },
]

/** Claimed by the architecture that Stint started from. */
export const CLAIMED: Readonly<Record<number, readonly [each: number, one: number]>> = {
  5: [3535, 1207],
  10: [7070, 1707],
  50: [35_350, 5707],
}
