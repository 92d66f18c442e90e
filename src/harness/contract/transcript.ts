// What a harness writes down of a conversation, as far as hooks and budgets ask for it.
import { type Figure, estimated, measured } from '../../context/budget/figures.ts'
import type { Spent } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'
import { tokensOf } from './usage.ts'
import type { Place } from './read-piece.ts'

/** Reads the transcripts of one harness. */
export interface TranscriptReader {
  /** Where a conversation that is begun in a folder will be written. */
  path(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string
  /** Where it is written, if it is. */
  find(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string | undefined
  /** What a piece shows. It begins at the start of a line. */
  inspect(bytes: Buffer, carried?: Carried): TranscriptFacts
  /** What its end tells of the context's size, at the same cost however long it is. */
  usageTail(path: string): UsageTail
  /** Sums up what was used, on from `kept` where that is still its beginning. Undefined when it cannot be read. */
  sumUp(
    path: string,
    kept: KeptTotals | undefined,
    progress?: (done: number, size: number) => void,
  ): KeptTotals | undefined
}

/** A shell command that the agent ran, and what came of it. */
export interface CommandResult {
  readonly toolUseId: string
  readonly command: string
  readonly isError: boolean
  /** Its beginning and its end, when it is long. */
  readonly output: string
}

/** A command whose result has not been seen yet. */
export interface PendingCommand {
  readonly toolUseId: string
  readonly command: string
}

export interface LastAnswer {
  /** When the assistant last said anything, a failure included. ISO. */
  readonly lastAssistantAt?: string
  readonly lastText?: string
  /** Why the last call of the model came to nothing, unless it has answered since. */
  readonly failure?: string
  /** What the last call used. */
  readonly usage?: Usage
  readonly usedAt?: string
  readonly model?: string
  /** Of the client that wrote the line. */
  readonly version?: string
}

/** Where the conversation was compacted. */
export interface Boundary {
  readonly uuid: string
  readonly trigger?: string
  readonly tokensBefore?: number
  /** What is left of them, as the client estimates it. */
  readonly tokensAfter?: number
  readonly at?: string
}

/** Something typed while the agent worked, which no prompt event announces. */
export interface QueuedPrompt {
  readonly uuid: string
  readonly text: string
  readonly at?: string
}

/** What has to be known of earlier pieces to understand the next one. */
export type Carried = readonly PendingCommand[]

export interface TranscriptFacts extends LastAnswer {
  /** How many bytes were understood. The rest is a line that is still being written. */
  readonly consumed: number
  readonly boundaries: readonly Boundary[]
  /** What the harness made of the conversation, as it stands behind the last boundary. */
  readonly summary?: { readonly text: string; readonly boundary?: string }
  /** The marks of our texts that the model has before it: those behind the last boundary. */
  readonly givenMarks: readonly string[]
  /** This client writes down what hooks give. */
  readonly recordsHookContext: boolean
  readonly commands: readonly CommandResult[]
  readonly queued: readonly QueuedPrompt[]
  readonly carried: Carried
}

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

/** The tokens that the next call will carry: what the last one read, and what it answered. `now` stands for a time that the transcript does not tell. */
export function contextFigure({ call, compacted }: UsageTail, now: string): Figure | undefined {
  if (call !== undefined) return measured(tokensOf(call.usage), 'transcript', call.at ?? now)
  if (compacted?.tokensAfter === undefined) return undefined
  return estimated(
    compacted.tokensAfter,
    'transcript: what the compaction left',
    compacted.at ?? now,
  )
}

/** What was used, by model. */
export type SpentByModel = Readonly<Record<string, Spent>>

export interface Totals {
  readonly spent: SpentByModel
  /** What delegated agents used, as far as it stands in the same transcript. */
  readonly delegated: SpentByModel
  readonly calls: number
  readonly compactions: number
  /** The last time that it compacted by itself, and how many tokens there were. */
  readonly lastAutomatic?: { readonly tokens: number; readonly at: string }
  readonly startedAt?: string
  readonly lastAt?: string
  /** The client that wrote last. */
  readonly version?: string
  /** What the client says that it cost, where it writes that down. */
  readonly cost?: { readonly dollars: number; readonly at: string; readonly isWhole: boolean }
}

/** Totals up to a place in a transcript, to go on from. */
export interface KeptTotals {
  readonly place: Place
  /** A sum over the last bytes before the place. */
  readonly prefix: number
  readonly settled: Totals
  /** Calls whose answer may not be written to its end. */
  readonly open: readonly Call[]
}

export interface Call {
  readonly id: string
  readonly model: string
  readonly isDelegated: boolean
  readonly spent: Spent
}

/** All of it, calls that are not at their end included. */
export function totalsOf({ settled, open }: KeptTotals): Totals {
  return open.reduce(withCall, settled)
}

export function together(all: readonly SpentByModel[]): SpentByModel {
  const entries = all.flatMap((each) => Object.entries(each))
  return entries.reduce<SpentByModel>((sum, [model, spent]) => withSpent(sum, model, spent), {})
}

const NOTHING: Spent = { input: 0, output: 0, cacheRead: 0, cacheWritten: 0, cacheWrittenHour: 0 }

export function withCall(totals: Totals, { model, isDelegated, spent }: Call): Totals {
  const whose = isDelegated ? 'delegated' : 'spent'
  return {
    ...totals,
    [whose]: withSpent(totals[whose], model, spent),
    calls: totals.calls + (isDelegated ? 0 : 1),
  }
}

function withSpent(all: SpentByModel, model: string, spent: Spent): SpentByModel {
  const before = Object.hasOwn(all, model) ? all[model]! : NOTHING
  return { ...all, [model]: combinedSpent(before, spent, (x, y) => x + y) }
}

export function combinedSpent(a: Spent, b: Spent, how: (x: number, y: number) => number): Spent {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWritten: how(a.cacheWritten, b.cacheWritten),
    cacheWrittenHour: how(a.cacheWrittenHour, b.cacheWrittenHour),
  }
}
