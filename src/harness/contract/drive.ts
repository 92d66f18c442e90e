// What a run asks of an agent program, whichever it is. One driver for each; one suite of tests over all of them.
import type { ConversationStore } from '../../history/store.ts'
import type { Usage } from '../../session/entries.ts'

/** `ask` puts every request before a person; `edits` allows edits, git and the named commands, in the working tree and on its branch; `all` allows everything. */
export type Permissions = 'ask' | 'edits' | 'all'

/** What a driver can do, so that nobody has to find out by trying. */
export interface Capabilities {
  /** One live conversation takes prompt after prompt. Without it each conversation gets one task. */
  readonly multiTurn: boolean
  /** How finely use is told: with each model request, once a turn, or never. */
  readonly usage: 'request' | 'turn' | 'none'
  readonly compactionEvents: boolean
  /** A conversation can be gone on with after its process died. */
  readonly resume: boolean
  /** Takes standing instructions apart from the first prompt. */
  readonly systemPrompt: boolean
  /** The permissions it keeps to by itself. */
  readonly permissions: readonly Permissions[]
  /** The files of project instructions that it reads by itself, so that nobody gives them again. */
  readonly instructions: readonly string[]
}

export interface PermissionRequest {
  readonly tool: string
  /** In one line, for a person. */
  readonly title: string
  readonly command?: string
  /** The folder in which the command is to run, where that is said. */
  readonly cwd?: string
  readonly path?: string
}

export interface OpenConversation {
  readonly cwd: string
  /** The branch that it works on. Under `edits` no other is moved. */
  readonly branch?: string
  /** The whole environment of the agent. */
  readonly env: NodeJS.ProcessEnv
  /**
   * The words of a command that starts the agent's program, which is put behind it with its arguments: a container, a sandbox.
   * It has to hand on its input, its output and its environment, and to end when it is told to.
   */
  readonly wrap?: readonly string[]
  readonly permissions: Permissions
  /** Commands that `edits` allows besides git: by their beginning, `npm test`; those that only a shell understands, whole. */
  readonly allow: readonly string[]
  readonly model?: string
  readonly systemPrompt?: string
  /** The harness's own id of a conversation to go on with. */
  readonly resume?: string
  /** Whether pieces of messages are told while they are written. */
  readonly deltas?: boolean
  /** Asked where the driver's rules do not decide. Refuses when absent. */
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
  /** Takes every line that goes to and fro, to be kept as evidence. */
  readonly trace?: (direction: 'to' | 'from', line: string) => void
}

export type HarnessEvent =
  /** The conversation is there. Also after it was resumed. */
  | {
      readonly type: 'started'
      readonly conversation: string
      readonly model?: string
      readonly window?: number
    }
  /** A piece of a message that is still being written, from harnesses that tell it; the whole follows as `text`. */
  | { readonly type: 'delta'; readonly text: string }
  /** The message of which pieces were told broke off, and begins anew: they are no part of it. */
  | { readonly type: 'anew' }
  /** A whole message of the agent. */
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool'
      /** The same id for the start and the end of one use. */
      readonly id: string
      readonly name: string
      readonly status: 'started' | 'completed' | 'failed'
      readonly command?: string
      readonly path?: string
      /** The last of what it printed, when it is over. */
      readonly output?: string
    }
  | {
      readonly type: 'usage'
      /** Used since the last such event. Never counted twice. */
      readonly spent?: Usage
      /** Tokens in the context now. */
      readonly context?: number
      readonly window?: number
      /** Where it compacts by itself, when it is known. */
      readonly point?: number
      readonly model?: string
      /** What the harness says the whole conversation has cost so far. */
      readonly costUsd?: number
    }
  | {
      readonly type: 'compaction'
      readonly trigger?: string
      readonly tokensBefore?: number
      readonly boundary?: string
    }
  /** The account is used up. */
  | { readonly type: 'limit'; readonly message: string; readonly resetsAt?: string }
  | TurnEnded

export interface TurnEnded {
  readonly type: 'turn ended'
  /** `died`: its process is gone, and the conversation with it unless it can be resumed. */
  readonly how: 'completed' | 'interrupted' | 'failed' | 'died'
  readonly said?: string
  readonly failure?: string
}

export interface Conversation {
  /** The harness's own id, once it has said it. */
  readonly id: string | undefined
  /** The process to look for after a crash of ours. */
  readonly process: ProcessMark
  /** One turn. The last event is always `turn ended`, whatever happens. Not while another turn runs. */
  prompt(text: string): AsyncIterable<HarnessEvent>
  /** Ends the turn that runs; the turn then ends as `interrupted`. Does nothing when none runs. */
  interrupt(): Promise<void>
  /** Resolves when no process of it is left, gently where possible and by force where not. May be called at any time and twice. */
  close(): Promise<void>
}

/** What tells a process from another that got the same number later. */
export interface ProcessMark {
  readonly pid: number
  /** As the system gives it; an opaque text. Empty where the system does not tell. */
  readonly startedAt: string
  /** A word in the environment of it and of everything it started. */
  readonly mark: string
}

export interface Harness {
  readonly name: string
  readonly capabilities: Capabilities
  /** Whether it can be started here, before anything depends on it. */
  check(env: NodeJS.ProcessEnv): Promise<HarnessCheck>
  open(options: OpenConversation): Promise<Conversation>
}

export type HarnessCheck =
  | { readonly isThere: true; readonly version: string }
  | { readonly isThere: false; readonly problem: string; readonly hint: string }

/** What a driver is made from. */
export interface DriveRequest {
  /** As it was asked for: `api:local`. */
  readonly name: string
  /** What stands behind the colon. */
  readonly argument?: string
  /** A script for a harness that follows one. */
  readonly script?: string
  /** A folder for what a harness without a memory of its own remembers. */
  readonly state?: string
  readonly models: ModelSettings
  /** Where a driver that keeps conversations itself stores them. */
  readonly store: () => ConversationStore
}

/** The bare models of a project: one, and others by name. */
export interface ModelSettings {
  readonly usual?: ApiSettings
  readonly providers: Readonly<Record<string, ApiSettings>>
}

export type Provider = 'anthropic' | 'openai'

/** How a model is reached. The key itself is never among it. */
export interface ApiSettings {
  readonly provider: Provider
  readonly baseUrl: string
  readonly model?: string
  /** The variable of the environment that holds the key. */
  readonly keyEnv?: string
  /** Tokens that the model's context holds, where that is not known from its name. */
  readonly window?: number
  /** The longest answer, in tokens. */
  readonly maxOutput?: number
  /** How long a server may say nothing before the turn fails. */
  readonly silenceSeconds?: number
  /** Sent with each request, such as `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>
  /** Files of the project that each conversation begins with. */
  readonly initialFiles: readonly string[]
  readonly effort?: string
  /** Tokens the model may think for, or as many as it finds right. */
  readonly thinking?: number | 'adaptive'
}
