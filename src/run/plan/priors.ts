// What tasks take where a project has no history of its own. Fitted to a published ledger of 128 attempts at tasks by coding
// agents, each a conversation of its own. It tells, at the 10th, 25th, 50th, 75th and 90th percentile,
//
//   written to the cache    20,491     44,189     59,997     81,845     95,628
//   read from the cache    520,317  1,258,973  1,938,023  3,304,007  5,262,555
//   output                   3,627      7,871     13,282     18,483     24,247
//   seconds                    173        270        345        487        688
//
// These are whole attempts: the start of the conversation and finding one's way are in them, and the ledger tells neither
// apart, nor sizes, nor requests. So four things are assumed. A conversation began with 12,000 tokens. Requests are what was
// read divided by the mean context, which comes to about seven seconds each in every column. Of the smallest tenth of the
// attempts (some 32 requests and 8,500 tokens) finding one's way was the better third of the requests and more than half of
// the tokens. And of the tasks 35 % were small, 45 % medium and 20 % large. Then a log-normal distribution for each class was
// fitted so that all of them together come out as the table. A test makes the table again.
import type { SizeClass, Start } from './contract.ts'

export interface Prior {
  /** Half of the tasks take less. */
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
  /** The standard deviation of the logarithm: of the tokens added, and of the rest. */
  readonly spread: { readonly added: number; readonly requests: number }
}

export const PRIORS: Readonly<Record<SizeClass, Prior>> = {
  small: {
    added: 14_000,
    requests: 24,
    output: 3_900,
    seconds: 155,
    spread: { added: 0.8, requests: 0.58 },
  },
  medium: {
    added: 49_000,
    requests: 44,
    output: 15_000,
    seconds: 280,
    spread: { added: 0.3, requests: 0.26 },
  },
  large: {
    added: 68_000,
    requests: 90,
    output: 17_000,
    seconds: 575,
    spread: { added: 0.37, requests: 0.3 },
  },
}

export const PRIOR_START: Start = { added: 5_000, requests: 12, output: 1_500, seconds: 75 }

/** What a conversation begins with where nobody has measured it. */
export const PRIOR_BASE = 12_000
