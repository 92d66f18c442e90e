// What a harness tells its hooks and what they answer, in the words of no harness in particular.
import type { Limit } from '../../context/budget/figures.ts'
import type { Json } from '../../text/json-fields.ts'
import type { PlanChange } from './plan-steps.ts'
import type { TranscriptReader } from './transcript.ts'

/** How a harness speaks to its hooks: every member works at once, without waiting. */
export interface HookProtocol {
  /** Undefined when it is no event of this harness, or does not say where and in which conversation. */
  readEvent(json: string): HookEvent | undefined
  /** The response to an event of this name, as the harness reads it from standard output. */
  printResponse(event: string, response: HookResponse): string
  /** What the use of a tool shows by itself. `root` is the project's folder. */
  toolFacts(event: ToolUsedEvent, root: string): ToolFacts
  readonly variables: HookVariables
  readonly signs: TranscriptSigns
}

/** The part of a harness that handlers load besides. */
export interface HarnessHooks extends HookProtocol {
  /** What the status line is told. */
  readStatus(json: string): StatusInput
  readonly transcript: TranscriptReader
}

/** Bytes of a transcript that tell without parsing whether it has to be read. */
export interface TranscriptSigns {
  /** One of these stands in every line that would be recorded at once. */
  readonly recorded: readonly string[]
  /** Stands in every answer of the model. */
  readonly answer: string
  /** One of these stands in every line that tells of a command. */
  readonly commands: readonly string[]
  /** The tokens in the context, by the last usage in these bytes. */
  lastUsage(bytes: Buffer): number | undefined
}

/** The environment variables in which a harness tells its hooks something. */
export interface HookVariables {
  /** The folder it was started in. */
  readonly startFolder: string
  /** A file of shell commands that the agent's shells read. */
  readonly shellFile: string
  /** Its process. */
  readonly process: string
  /** The conversation, in the agent's shells. */
  readonly conversation: string
}

/** What a hook responds. */
export interface HookResponse {
  /** One line for the person. */
  readonly person?: string
  /** Injected into the model's context. */
  readonly model?: string
  /** Given to the summariser, which takes nothing but plain text. */
  readonly plain?: string
}

export interface EventBase {
  /** The name of the harness whose event it is. */
  readonly harness: string
  /** The event as the harness calls it. */
  readonly name: string
  readonly conversation: string
  readonly transcript?: string
  /** The prompt that led to it, where the client says so. */
  readonly promptId?: string
  readonly cwd: string
}

export interface SessionStartEvent extends EventBase {
  readonly kind: 'sessionStart'
  /** `startup`, `resume`, `clear`, `compact`, `fork`, or what a newer client calls it. */
  readonly source: string
  readonly model?: string
}

export interface UserPromptEvent extends EventBase {
  readonly kind: 'userPrompt'
  readonly prompt: string
  /** Nobody typed it: the harness tells the model of something, as that a background agent finished. */
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
  /** The delegated agent that used it. */
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
  /** `permission_prompt`, `idle_prompt`. */
  readonly about?: string
}

/** An event of which nothing is to be taken: one of a newer client, or of the harness's own agents. */
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

/** What the use of a tool shows by itself. */
export interface ToolFacts {
  readonly isEdit: boolean
  /** The file that was changed: from the project's root, or absolute when it is outside. */
  readonly edited?: string
  /** The shell command that was run to its end. */
  readonly command?: string
  readonly output?: string
  readonly todos?: PlanChange
  readonly agentStarted?: { readonly agent: string; readonly description: string }
  readonly agentFinished?: AgentFinished
  /** What the agent did with Stint: `init`, `log`; of several the one that means most. */
  readonly stintCommand?: string
  /** Git made a commit, or moved to another. */
  readonly committed: boolean
}

export interface AgentFinished {
  readonly agent: string
  readonly type?: string
  readonly task?: string
  readonly result?: string
}

/** What only the status line is told, as the harness tells it. */
export interface StatusFigures {
  /** Percent of the window, without the last answer. */
  readonly usedPercent?: number
  /** The window's size. */
  readonly size?: number
  /** Tokens that the next call will carry. */
  readonly used?: number
  readonly model?: string
  readonly version?: string
  /** In US dollars, for the whole conversation. */
  readonly cost?: number
  readonly fiveHour?: Limit
  readonly sevenDay?: Limit
}

export interface StatusInput {
  readonly cwd?: string
  readonly conversation?: string
  readonly figures: StatusFigures
}
