import { type SourcedValue, estimated, measured } from '../../context/budget/budget.ts'
import type { BilledTokens } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'
import { combineCounts, usageTotal } from './usage.ts'
import type { FilePosition } from './transcript-lines.ts'

export interface TranscriptReader {
  path(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string
  find(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string | undefined
  inspect(bytes: Buffer, carried?: PendingCommands): TranscriptFacts
  lastUsage(path: string): LastUsage
  /**
   * Continues from the cached totals if the file still starts with the same bytes; undefined when
   * unreadable.
   */
  totals(
    path: string,
    cached: CachedTotals | undefined,
    progress?: (done: number, size: number) => void,
  ): CachedTotals | undefined
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

export interface LastAssistantMessage {
  readonly lastAssistantAt?: string
  readonly lastText?: string
  readonly failure?: string
  readonly usage?: Usage
  readonly usedAt?: string
  readonly model?: string
  readonly version?: string
}

export interface CompactionBoundary {
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

/** Text that the agent wrote, between tool uses and at the end of a turn. */
export interface AgentMessage {
  readonly uuid: string
  readonly text: string
}

/** Commands of earlier chunks whose result is still missing. */
export type PendingCommands = readonly PendingCommand[]

export interface TranscriptFacts extends LastAssistantMessage {
  /** The rest is a line that is still being written. */
  readonly consumed: number
  readonly boundaries: readonly CompactionBoundary[]
  readonly summary?: { readonly text: string; readonly boundary?: string }
  /** Delivery markers after the last boundary, so still in the model's context. */
  readonly deliveryMarkers: readonly string[]
  readonly recordsHookContext: boolean
  readonly commands: readonly CommandResult[]
  readonly queued: readonly QueuedPrompt[]
  readonly carried: PendingCommands
  /** Parsed on demand: most readers need only the last one. */
  messages(): readonly AgentMessage[]
}

export interface LastUsage {
  readonly call?: { readonly usage: Usage; readonly at?: string }
  readonly model?: string
  readonly version?: string
  /** Set when the model was not called since the compaction. */
  readonly compacted?: CompactionBoundary
}

/** The tokens of the last call. `now` replaces a missing time. */
export function contextSizeFrom(
  { call, compacted }: LastUsage,
  now: string,
): SourcedValue | undefined {
  if (call !== undefined) return measured(usageTotal(call.usage), 'transcript', call.at ?? now)
  if (compacted?.tokensAfter === undefined) return undefined
  return estimated(
    compacted.tokensAfter,
    'transcript: what the compaction left',
    compacted.at ?? now,
  )
}

type SpentByModel = Readonly<Record<string, BilledTokens>>

export interface TranscriptTotals {
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

export interface CachedTotals {
  readonly place: FilePosition
  /** Checksum of the last bytes before the position. */
  readonly prefix: number
  readonly settled: TranscriptTotals
  /** Calls whose reply may be incomplete. */
  readonly open: readonly ModelCall[]
}

export interface ModelCall {
  readonly id: string
  readonly model: string
  readonly isDelegated: boolean
  readonly spent: BilledTokens
}

export function totalsWithOpenCalls({ settled, open }: CachedTotals): TranscriptTotals {
  return open.reduce(addModelCall, settled)
}

export function sumByModel(all: readonly SpentByModel[]): SpentByModel {
  const entries = all.flatMap((each) => Object.entries(each))
  return entries.reduce<SpentByModel>((sum, [model, spent]) => withSpent(sum, model, spent), {})
}

const NO_SPENDING: BilledTokens = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWritten: 0,
  cacheWrittenHour: 0,
}

export function addModelCall(
  totals: TranscriptTotals,
  { model, isDelegated, spent }: ModelCall,
): TranscriptTotals {
  const owner = isDelegated ? 'delegated' : 'spent'
  return {
    ...totals,
    [owner]: withSpent(totals[owner], model, spent),
    calls: totals.calls + (isDelegated ? 0 : 1),
  }
}

function withSpent(all: SpentByModel, model: string, spent: BilledTokens) {
  const before = Object.hasOwn(all, model) ? all[model]! : NO_SPENDING
  return { ...all, [model]: combineCounts(before, spent, (x, y) => x + y) }
}
