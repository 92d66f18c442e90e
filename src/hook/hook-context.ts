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
import { isoTime } from '../text/times.ts'

/** git is asked only where its files do not say it; an agent waits for it. */
const GIT_MS = 400
const LONGEST_ERROR = 2000

export interface HookRequest<E extends HookEvent = HookEvent> {
  readonly event: E
  readonly place: ProjectPaths
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly protocol: HookProtocol
}

/** One event and its conversation. Opens no session. */
export class HookContext<E extends HookEvent = HookEvent> {
  readonly event: E
  readonly place: ProjectPaths
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly protocol: HookProtocol
  readonly now = isoTime(Date.now())
  readonly stateFolder: string
  tracking: ConversationState
  response: HookResponse = {}
  readonly drafts: EntryDraft[] = []
  readonly #initial: ConversationState
  readonly #later: (() => void)[] = []
  #head: Head | undefined

  constructor(
    { event, place, config, env, protocol }: HookRequest<E>,
    known: ConversationState | undefined,
  ) {
    this.event = event
    this.place = place
    this.config = config
    this.env = env
    this.protocol = protocol
    this.stateFolder = conversationStateFolder(place)
    const tracking = known ?? newConversationState(event.harness, event.conversation)
    this.tracking = {
      ...tracking,
      harness: event.harness,
      ...defined({ transcript: event.transcript }),
      fired: { ...tracking.fired, [event.name]: this.now },
    }
    this.#initial = this.tracking
  }

  get isStateChanged(): boolean {
    return this.tracking !== this.#initial
  }

  get sessionId(): string | undefined {
    return this.tracking.session
  }

  get head(): Head {
    this.#head ??=
      this.place.repository === undefined ? {} : readHead(this.place.repository, GIT_MS)
    return this.#head
  }

  /** As entries carry it: empty outside a repository. */
  get git(): { readonly git?: Head } {
    return this.place.repository === undefined ? {} : { git: this.head }
  }

  updateTracking(changes: Partial<ConversationState>): void {
    this.tracking = { ...this.tracking, ...changes }
  }

  /** Two hooks that capture the same thing give it the same `once`. */
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

  /** Two harnesses may use the same id. */
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

  /** Runs after everything else is written, because it must not run twice. */
  defer(work: () => void): void {
    this.#later.push(work)
  }

  runDeferred(): void {
    for (const work of this.#later.splice(0)) this.attempt(work)
  }

  /** An error is kept for `stint doctor`. */
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
    message: message.slice(0, LONGEST_ERROR),
  })
}

/**
 * The project that a conversation was started in. The folder that an event names follows the agent's `cd`, and a
 * repository inside the project is not the project.
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
