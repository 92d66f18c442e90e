import type { Limit } from '../../context/budget/figures.ts'
import type { Json } from '../../text/json-fields.ts'
import type { PlanChange } from './plan-steps.ts'
import type { TranscriptReader } from './transcript.ts'

/** Everything here is synchronous. */
export interface HookProtocol {
  readEvent(json: string): HookEvent | undefined
  printResponse(event: string, response: HookResponse): string
  toolFacts(event: ToolUsedEvent, root: string): ToolFacts
  readonly variables: HookVariables
  readonly signs: TranscriptSigns
}

export interface HarnessHooks extends HookProtocol {
  readStatus(json: string): StatusInput
  readonly transcript: TranscriptReader
}

/** Bytes that show without parsing whether a transcript has to be read. */
export interface TranscriptSigns {
  /** One of these is in every line that is recorded at once. */
  readonly recorded: readonly string[]
  readonly answer: string
  /** One of these is in every line about a command. */
  readonly commands: readonly string[]
  lastUsage(bytes: Buffer): number | undefined
}

export interface HookVariables {
  readonly startFolder: string
  /** A file of shell commands that the agent's shells read. */
  readonly shellFile: string
  readonly process: string
  readonly conversation: string
}

export interface HookResponse {
  readonly person?: string
  readonly model?: string
  /** For the summariser, which takes plain text only. */
  readonly plain?: string
}

export interface EventBase {
  readonly harness: string
  readonly name: string
  readonly conversation: string
  readonly transcript?: string
  readonly promptId?: string
  readonly cwd: string
}

export interface SessionStartEvent extends EventBase {
  readonly kind: 'sessionStart'
  /** `startup`, `resume`, `clear`, `compact`, `fork`, or something newer. */
  readonly source: string
  readonly model?: string
}

export interface UserPromptEvent extends EventBase {
  readonly kind: 'userPrompt'
  readonly prompt: string
  /** Sent by the harness, such as the end of a background agent. */
  readonly isFromHarness: boolean
}

export interface PreCompactEvent extends EventBase {
  readonly kind: 'preCompact'
  readonly trigger: string
  readonly instructions?: string
}

export interface ToolUsedEvent extends EventBase {
  readonly kind: 'toolUsed'
  readonly tool: string
  readonly input: Json
  readonly response: unknown
  readonly toolUseId?: string
  readonly agent?: string
}

export interface StopEvent extends EventBase {
  readonly kind: 'stop'
  readonly lastMessage?: string
  /** A hook kept the turn going, and this is its end. */
  readonly isContinued: boolean
}

export interface SubagentStopEvent extends EventBase {
  readonly kind: 'subagentStop'
  readonly agent: string
  readonly type: string
  readonly lastMessage?: string
  readonly agentTranscript?: string
}

export interface SessionEndEvent extends EventBase {
  readonly kind: 'sessionEnd'
  readonly reason: string
}

export interface NotificationEvent extends EventBase {
  readonly kind: 'notification'
  readonly message: string
  readonly about?: string
}

export interface OtherEvent extends EventBase {
  readonly kind: 'other'
}

export type HookEvent =
  | SessionStartEvent
  | UserPromptEvent
  | PreCompactEvent
  | ToolUsedEvent
  | StopEvent
  | SubagentStopEvent
  | SessionEndEvent
  | NotificationEvent
  | OtherEvent

export type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>

export interface ToolFacts {
  readonly isEdit: boolean
  /** Relative to the project's root, or absolute outside of it. */
  readonly edited?: string
  readonly command?: string
  readonly output?: string
  readonly todos?: PlanChange
  readonly agentStarted?: { readonly agent: string; readonly description: string }
  readonly agentFinished?: AgentFinished
  /** `init`, `log`; of several the most important. */
  readonly stintCommand?: string
  readonly committed: boolean
}

export interface AgentFinished {
  readonly agent: string
  readonly type?: string
  readonly task?: string
  readonly result?: string
}

export interface StatusFigures {
  /** Without the last answer. */
  readonly usedPercent?: number
  readonly size?: number
  /** Tokens that the next call will carry. */
  readonly used?: number
  readonly model?: string
  readonly version?: string
  readonly cost?: number
  readonly fiveHour?: Limit
  readonly sevenDay?: Limit
}

export interface StatusInput {
  readonly cwd?: string
  readonly conversation?: string
  readonly figures: StatusFigures
}
