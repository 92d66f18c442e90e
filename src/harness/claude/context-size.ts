import { type Figure, estimated, measured } from '../../context/budget/figures.ts'
import type { Usage } from '../../session/entries.ts'
import type { Boundary } from './transcript.ts'

/** The last that a transcript tells of the context's size. */
export interface UsageTail {
  /** The last call of the model in the conversation itself, unless it was compacted since. */
  readonly call?: { readonly usage: Usage; readonly at?: string }
  readonly model?: string
  /** Of the client that wrote it. */
  readonly version?: string
  /** It was compacted, and the model was not called since. */
  readonly compacted?: Boundary
}

/** The tokens that the next call will carry: what the last one read, and what it answered. */
export function contextOf({ input, cacheRead, cacheWritten, output }: Usage): number {
  return input + cacheRead + cacheWritten + output
}

/** The same as a figure. `now` stands for a time that the transcript does not tell. */
export function contextFigure({ call, compacted }: UsageTail, now: string): Figure | undefined {
  if (call !== undefined) return measured(contextOf(call.usage), 'transcript', call.at ?? now)
  if (compacted?.tokensAfter === undefined) return undefined
  return estimated(
    compacted.tokensAfter,
    'transcript: what the compaction left',
    compacted.at ?? now,
  )
}
