import type { ConversationStore } from '../../history/store.ts'
import type { Usage } from '../../session/entries.ts'

/**
 * `ask` asks the user; `edits` allows edits, git and listed commands in the working tree and on its
 * branch; `all` allows everything.
 */
export type Permissions = 'ask' | 'edits' | 'all'

export interface Capabilities {
  /** Without it each conversation gets one task. */
  readonly multiTurn: boolean
  /** How often usage is reported. */
  readonly usage: 'request' | 'turn' | 'none'
  readonly compactionEvents: boolean
  readonly resume: boolean
  readonly systemPrompt: boolean
  readonly permissions: readonly Permissions[]
  /** Instruction files that the harness reads by itself. */
  readonly instructions: readonly string[]
}

export interface PermissionRequest {
  readonly tool: string
  /** One line for the user. */
  readonly title: string
  readonly command?: string
  readonly cwd?: string
  readonly path?: string
}

export interface ConversationOptions {
  readonly cwd: string
  /** Under `edits` no other branch may be moved. */
  readonly branch?: string
  readonly env: NodeJS.ProcessEnv
  /**
   * A command that wraps the agent's program, such as a container. It must pass on input, output
   * and environment, and exit on a signal.
   */
  readonly wrap?: readonly string[]
  readonly permissions: Permissions
  /** Command prefixes (`npm test`); those with shell syntax match only as a whole. */
  readonly allow: readonly string[]
  readonly model?: string
  readonly systemPrompt?: string
  readonly resume?: string
  readonly deltas?: boolean
  /** Called where the rules do not decide; without it, the request is refused. */
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
  readonly trace?: (direction: 'to' | 'from', line: string) => void
}

export type HarnessEvent =
  | {
      readonly type: 'started'
      readonly conversation: string
      readonly model?: string
      readonly window?: number
    }
  /** Part of a message that is still streaming; the complete message follows as `text`. */
  | { readonly type: 'delta'; readonly text: string }
  /** The message that was streaming broke off and starts again. */
  | { readonly type: 'anew' }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool'
      /** The same for the start and the end of one tool use. */
      readonly id: string
      readonly name: string
      readonly status: 'started' | 'completed' | 'failed'
      readonly command?: string
      readonly path?: string
      /** The end of its output. */
      readonly output?: string
    }
  | {
      readonly type: 'usage'
      /** Since the last such event; never counted twice. */
      readonly spent?: Usage
      /** Tokens in the context now. */
      readonly context?: number
      readonly window?: number
      /** The compaction point, if known. */
      readonly point?: number
      readonly model?: string
      /** Total of the conversation, as reported by the harness. */
      readonly costUsd?: number
    }
  | {
      readonly type: 'compaction'
      readonly trigger?: string
      readonly tokensBefore?: number
      readonly boundary?: string
    }
  | { readonly type: 'limit'; readonly message: string; readonly resetsAt?: string }
  | TurnEnded

export type ToolEvent = Extract<HarnessEvent, { readonly type: 'tool' }>

export interface TurnEnded {
  readonly type: 'turn ended'
  /** `died`: the process is gone, and so is the conversation unless it can be resumed. */
  readonly how: 'completed' | 'interrupted' | 'failed' | 'died'
  readonly said?: string
  readonly failure?: string
}

export interface Conversation {
  readonly id: string | undefined
  readonly process: ProcessTag
  /** One turn at a time; the last event is always `turn ended`. */
  prompt(text: string): AsyncIterable<HarnessEvent>
  interrupt(): Promise<void>
  /** Resolves when no process is left. May be called at any time, and twice. */
  close(): Promise<void>
}

/** Identifies a process even if its pid is reused. */
export interface ProcessTag {
  readonly pid: number
  /** Opaque; empty where the system does not provide it. */
  readonly startedAt: string
  /** In the environment of the process and its descendants. */
  readonly mark: string
}

export interface Harness {
  readonly name: string
  readonly capabilities: Capabilities
  /** What it lacks, as far as files and environment tell: starts no process and opens no connection. */
  missing(env: NodeJS.ProcessEnv): Promise<HarnessProblem | undefined>
  /** May start the program or connect to the provider. */
  check(env: NodeJS.ProcessEnv): Promise<HarnessCheck>
  open(options: ConversationOptions): Promise<Conversation>
}

export interface HarnessProblem {
  readonly problem: string
  readonly hint: string
}

export type HarnessCheck =
  | { readonly isThere: true; readonly version: string }
  | ({ readonly isThere: false } & HarnessProblem)

export interface DriveRequest {
  readonly name: string
  readonly argument?: string
  readonly script?: string
  /** Where a harness without its own storage keeps state. */
  readonly state?: string
  readonly models: ModelSettings
  readonly store: () => ConversationStore
}

export interface ModelSettings {
  readonly usual?: ApiSettings
  readonly providers: Readonly<Record<string, ApiSettings>>
}

export type Provider = 'anthropic' | 'openai'

/** How to reach a model; never the key itself. */
export interface ApiSettings {
  readonly provider: Provider
  readonly baseUrl: string
  readonly model?: string
  readonly keyEnv?: string
  readonly window?: number
  readonly maxOutput?: number
  readonly silenceSeconds?: number
  readonly headers: Readonly<Record<string, string>>
  readonly initialFiles: readonly string[]
  readonly effort?: string
  readonly thinking?: number | 'adaptive'
}

/** The events of one turn, up to `turn ended`. They can be read once, at the reader's pace. */
export class TurnStream implements AsyncIterable<HarnessEvent> {
  readonly ended: Promise<void>
  /** Aborted when the turn is interrupted. */
  readonly stopping = new AbortController()
  isOver = false
  readonly #events: HarnessEvent[]
  #end: () => void = () => undefined
  #wake: (() => void) | undefined

  constructor(early: readonly HarnessEvent[] = []) {
    this.#events = [...early]
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get isInterrupted(): boolean {
    return this.stopping.signal.aborted
  }

  push(...events: readonly HarnessEvent[]): void {
    for (const event of events) {
      if (this.isOver) return
      this.#events.push(event)
      this.isOver = event.type === 'turn ended'
    }
    this.#wake?.()
    if (this.isOver) this.#end()
  }

  drain(): readonly HarnessEvent[] {
    return this.#events.splice(0)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) yield event
      else if (this.isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
