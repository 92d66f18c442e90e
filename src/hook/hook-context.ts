import { isAbsolute } from 'node:path'
import { type Head, readHead } from '../git/head.ts'
import type { HookEvent, HookProtocol, HookResponse } from '../harness/contract/hooks.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import type { Config } from '../project/config/config.ts'
import {
  type ConversationState,
  newConversationState,
  appendHookError,
} from '../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { type ProjectPaths, findProjectPaths } from '../project/store/project-paths.ts'
import { type EntryDraft, type EntryData, type EntryKind, draftEntry } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { redact } from '../text/redact.ts'
import { isoTime } from '../text/times.ts'

/** Timeout of the git call that is needed if the files under .git do not suffice. */
export const GIT_TIMEOUT_MS = 400
const MAX_ERROR_LENGTH = 2000

export interface HookRequest<E extends HookEvent = HookEvent> {
  readonly event: E
  readonly paths: ProjectPaths
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly protocol: HookProtocol
}

/** One event and its conversation, without opening the session. */
export class HookContext<E extends HookEvent = HookEvent> {
  readonly event: E
  readonly paths: ProjectPaths
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly protocol: HookProtocol
  readonly now = isoTime(Date.now())
  readonly stateFolder: string
  conversationState: ConversationState
  response: HookResponse = {}
  readonly drafts: EntryDraft[] = []
  readonly #initial: ConversationState
  readonly #deferred: (() => void)[] = []
  #head: Head | undefined

  constructor(
    { event, paths, config, env, protocol }: HookRequest<E>,
    known: ConversationState | undefined,
  ) {
    this.event = event
    this.paths = paths
    this.config = config
    this.env = env
    this.protocol = protocol
    this.stateFolder = conversationStateFolder(paths)
    const conversationState = known ?? newConversationState(event.harness, event.conversation)
    this.conversationState = {
      ...conversationState,
      harness: event.harness,
      ...defined({ transcript: event.transcript }),
      fired: { ...conversationState.fired, [event.name]: this.now },
    }
    this.#initial = this.conversationState
  }

  get isStateChanged(): boolean {
    return this.conversationState !== this.#initial
  }

  get sessionId(): string | undefined {
    return this.conversationState.session
  }

  get head(): Head {
    this.#head ??=
      this.paths.repository === undefined ? {} : readHead(this.paths.repository, GIT_TIMEOUT_MS)
    return this.#head
  }

  /** In the form that entries carry. */
  get git(): { readonly git?: Head } {
    return this.paths.repository === undefined ? {} : { git: this.head }
  }

  update(changes: Partial<ConversationState>): void {
    this.conversationState = { ...this.conversationState, ...changes }
  }

  /** Hooks that capture the same thing use the same `once`. */
  record<K extends EntryKind>(kind: K, data: EntryData[K], once?: string): void {
    if (once !== undefined && this.isRecorded(once)) return
    const key = once === undefined ? undefined : this.onceKey(once)
    this.drafts.push(
      draftEntry(kind, data, { by: 'hook', ...defined({ once: key }) }) as EntryDraft,
    )
  }

  isRecorded(_once: string): boolean {
    return false
  }

  /** Harnesses may use the same ids. */
  protected onceKey(once: string): string {
    return `${this.event.harness}:${once}`
  }

  respond(more: HookResponse): void {
    const joined = (a: string | undefined, b: string | undefined) =>
      a !== undefined && b !== undefined ? `${a}\n${b}` : (a ?? b)
    this.response = defined({
      person: joined(this.response.person, more.person),
      model: joined(this.response.model, more.model),
      plain: joined(this.response.plain, more.plain),
    })
  }

  get charactersForModel(): number {
    const { model = '', plain = '' } = this.response
    return model.length + plain.length
  }

  /** Runs after everything is written, because it must not run twice. */
  defer(work: () => void): void {
    this.#deferred.push(work)
  }

  runDeferred(): void {
    for (const work of this.#deferred.splice(0)) this.attempt(work)
  }

  /** Records an error for `stint doctor`. */
  attempt(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      this.recordError(error)
      return false
    }
  }

  async attemptAsync(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.recordError(error)
    }
  }

  recordError(error: unknown): void {
    recordHookError(this.stateFolder, this.event, error, this.now)
  }
}

export function recordHookError(
  stateFolder: string,
  { name, conversation }: Pick<HookEvent, 'name' | 'conversation'>,
  error: unknown,
  at = isoTime(Date.now()),
): void {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  appendHookError(stateFolder, {
    at,
    event: name,
    conversation,
    // An error may quote the prompt or the file it failed on.
    message: redact(message.slice(0, 2 * MAX_ERROR_LENGTH)).text.slice(0, MAX_ERROR_LENGTH),
  })
}

/**
 * The project that the conversation was started in. The event's cwd follows the agent's `cd`,
 * possibly into a nested repository.
 */
export function locateProject(
  event: HookEvent,
  env: NodeJS.ProcessEnv,
  { variables }: HookProtocol,
): ProjectPaths {
  const { [variables.startFolder]: started } = env
  if (
    started !== undefined &&
    isAbsolute(started) &&
    statOrUndefined(started)?.isDirectory() === true
  )
    return findProjectPaths(started)
  return findProjectPaths(event.cwd)
}
