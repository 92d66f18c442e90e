import type { RateLimit } from '../../context/budget/budget.ts'
import type { Json } from '../../text/json-fields.ts'
import type { TodoListChange } from './todo-list.ts'
import type { TranscriptReader } from './transcript.ts'

/** Everything here is synchronous. */
export interface HookProtocol {
  readEvent(json: string): HookEvent | undefined
  printResponse(event: string, response: HookResponse): string
  /** Environment variables that the harness sets for its hooks. */
  readonly variables: {
    readonly startFolder: string
    /** A file of shell commands that the agent's shells read. */
    readonly shellFile: string
    readonly process: string
    readonly conversation: string
  }
  readonly transcriptPatterns: TranscriptPatterns
}

export interface HarnessHooks extends HookProtocol {
  toolFacts: ToolFactsReader
  readStatus(json: string): StatusInput
  readonly transcript: TranscriptReader
}

/** Patterns that show, without parsing, whether a transcript has to be read. */
export interface TranscriptPatterns {
  /** One of these is in every line that must be recorded at once. */
  readonly recorded: readonly string[]
  readonly answer: string
  /** One of these is in every line about a command. */
  readonly commands: readonly string[]
  /** `text` is the end of the transcript and may begin within a line. */
  lastUsage(text: string): number | undefined
}

export type ToolFactsReader = (event: ToolUsedEvent, root: string) => ToolFacts

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

interface EventFields {
  readonly sessionStart: {
    /** `startup`, `resume`, `clear`, `compact`, `fork`, or something newer. */
    readonly source: string
    readonly model?: string
  }
  readonly userPrompt: {
    readonly prompt: string
    /** Sent by the harness, such as the end of a background agent. */
    readonly isFromHarness: boolean
  }
  readonly preCompact: { readonly trigger: string; readonly instructions?: string }
  readonly toolUsed: {
    readonly tool: string
    readonly input: Json
    readonly response: unknown
    readonly toolUseId?: string
    readonly agent?: string
  }
  readonly stop: {
    readonly lastMessage?: string
    /** Whether a stop hook made the turn continue before this end. */
    readonly isContinued: boolean
  }
  readonly subagentStop: {
    readonly agent: string
    readonly type: string
    readonly lastMessage?: string
    readonly agentTranscript?: string
  }
  readonly sessionEnd: { readonly reason: string }
  readonly notification: { readonly message: string; readonly about?: string }
  readonly other: object
}

export type HookEvent = {
  [K in keyof EventFields]: EventBase & { readonly kind: K } & EventFields[K]
}[keyof EventFields]
export type HookEventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>
export type ToolUsedEvent = HookEventOf<'toolUsed'>

export interface ToolFacts {
  readonly isEdit: boolean
  /** Relative to the project's root, or absolute outside of it. */
  readonly edited?: string
  readonly command?: string
  readonly output?: string
  readonly todos?: TodoListChange
  /** Of a multiple-choice question that the agent asked. */
  readonly answers?: readonly { readonly question: string; readonly answer: string }[]
  readonly agentStarted?: { readonly agent: string; readonly description: string }
  readonly agentFinished?: {
    readonly agent: string
    readonly type?: string
    readonly task?: string
    readonly result?: string
  }
  /** `init`, `log`; the most important of several. */
  readonly stintCommand?: string
  readonly committed: boolean
}

export interface StatusFigures {
  /** Without the last reply. */
  readonly usedPercent?: number
  readonly size?: number
  /** Tokens that the next call will carry. */
  readonly used?: number
  readonly model?: string
  readonly version?: string
  readonly cost?: number
  readonly fiveHour?: RateLimit
  readonly sevenDay?: RateLimit
}

export interface StatusInput {
  readonly cwd?: string
  readonly conversation?: string
  readonly figures: StatusFigures
}
