import { type Figure, estimated, measured } from '../../context/budget/figures.ts'
import type { Spent } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'
import { combineCounts, tokensOf } from './usage.ts'
import type { Place } from './transcript-lines.ts'

export interface TranscriptReader {
  path(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string
  find(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string | undefined
  inspect(bytes: Buffer, carried?: Carried): TranscriptFacts
  usageTail(path: string): UsageTail
  /** Continues from `kept` if the file still starts with it; undefined when unreadable. */
  sumUp(
    path: string,
    kept: KeptTotals | undefined,
    progress?: (done: number, size: number) => void,
  ): KeptTotals | undefined
}

export interface CommandResult {
  readonly toolUseId: string
  readonly command: string
  readonly isError: boolean
  readonly output: string
}

export interface PendingCommand {
  readonly toolUseId: string
  readonly command: string
}

export interface LastAnswer {
  readonly lastAssistantAt?: string
  readonly lastText?: string
  readonly failure?: string
  readonly usage?: Usage
  readonly usedAt?: string
  readonly model?: string
  readonly version?: string
}

export interface Boundary {
  readonly uuid: string
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly tokensAfter?: number
  readonly at?: string
}

/** Typed while the agent worked; no prompt event announces it. */
export interface QueuedPrompt {
  readonly uuid: string
  readonly text: string
  readonly at?: string
}

/** Commands of earlier pieces whose result is still missing. */
export type Carried = readonly PendingCommand[]

export interface TranscriptFacts extends LastAnswer {
  /** The rest is a line that is still being written. */
  readonly consumed: number
  readonly boundaries: readonly Boundary[]
  readonly summary?: { readonly text: string; readonly boundary?: string }
  /** Delivery markers behind the last boundary, so still in the model's context. */
  readonly givenMarks: readonly string[]
  readonly recordsHookContext: boolean
  readonly commands: readonly CommandResult[]
  readonly queued: readonly QueuedPrompt[]
  readonly carried: Carried
}

export interface UsageTail {
  readonly call?: { readonly usage: Usage; readonly at?: string }
  readonly model?: string
  readonly version?: string
  /** It was compacted, and the model was not called since. */
  readonly compacted?: Boundary
}

/** What the last call read and answered. `now` replaces a missing time. */
export function contextFigure({ call, compacted }: UsageTail, now: string): Figure | undefined {
  if (call !== undefined) return measured(tokensOf(call.usage), 'transcript', call.at ?? now)
  if (compacted?.tokensAfter === undefined) return undefined
  return estimated(
    compacted.tokensAfter,
    'transcript: what the compaction left',
    compacted.at ?? now,
  )
}

export type SpentByModel = Readonly<Record<string, Spent>>

export interface Totals {
  readonly spent: SpentByModel
  readonly delegated: SpentByModel
  readonly calls: number
  readonly compactions: number
  readonly lastAutomatic?: { readonly tokens: number; readonly at: string }
  readonly startedAt?: string
  readonly lastAt?: string
  readonly version?: string
  readonly cost?: { readonly dollars: number; readonly at: string; readonly isWhole: boolean }
}

export interface KeptTotals {
  readonly place: Place
  /** Checksum of the last bytes before the place. */
  readonly prefix: number
  readonly settled: Totals
  /** Calls whose answer may not be complete. */
  readonly open: readonly Call[]
}

export interface Call {
  readonly id: string
  readonly model: string
  readonly isDelegated: boolean
  readonly spent: Spent
}

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

function withSpent(all: SpentByModel, model: string, spent: Spent) {
  const before = Object.hasOwn(all, model) ? all[model]! : NOTHING
  return { ...all, [model]: combineCounts(before, spent, (x, y) => x + y) }
}
