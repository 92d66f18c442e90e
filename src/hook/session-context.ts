import { existsSync } from 'node:fs'
import type { HarnessHooks, HookEvent } from '../harness/contract/hooks.ts'
import {
  readConversationState,
  conversationStateStamp,
  writeConversationState,
} from '../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { addPending, drainOutbox, drainPending } from '../project/store/outbox.ts'
import type { ProjectPaths } from '../project/store/project-paths.ts'
import type { EntryDraft } from '../session/entries.ts'
import type { SessionState } from '../session/state.ts'
import { HookContext, type HookRequest } from './hook-context.ts'
import {
  type FoundSession,
  type SessionsHere,
  findNamedSession,
  openSessionById,
  findSessionsHere,
} from './find-session.ts'
import { runWithTimeout } from '../project/conversation/run-with-timeout.ts'
import { join } from 'node:path'
import { replaceUnsynced } from '../journal/write-files.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import { renderProgress } from '../document/progress-file.ts'
import { writeSnapshot } from '../document/snapshot.ts'

const CLEANING_MS = 300
const LONG_TAIL = 32 * 1024

/** A hook context with the session opened. */
export class SessionContext<E extends HookEvent = HookEvent> extends HookContext<E> {
  readonly hooks: HarnessHooks
  #found: FoundSession | undefined
  #here: SessionsHere | undefined
  #paused: FoundSession | undefined
  readonly #stamp: string

  constructor(request: HookRequest<E> & { readonly protocol: HarnessHooks }, drains = true) {
    const folder = conversationStateFolder(request.paths)
    const { conversation } = request.event
    const stamp = conversationStateStamp(folder, conversation)
    super(request, readConversationState(folder, conversation))
    this.hooks = request.protocol
    this.#stamp = stamp
    this.#found = this.#sessionToWorkOn()
    if (drains) this.drainOutbox()
  }

  get session(): LiveSession | undefined {
    return this.#found?.session
  }

  override get sessionId(): string | undefined {
    return this.#found?.session.id
  }

  /** Only valid with a session. */
  get state(): SessionState {
    return this.#found!.state
  }

  /** For a conversation that is not bound to a session yet. */
  get sessionsHere(): SessionsHere {
    this.#here ??= findSessionsHere(this.paths, this.config, this.head)
    return this.#here
  }

  get paused(): FoundSession | undefined {
    return this.#paused ?? this.sessionsHere.paused
  }

  bindTo(found: FoundSession): void {
    this.#found = found
    this.update({ session: found.session.id })
  }

  override isRecorded(once: string): boolean {
    return this.#found?.state.once.includes(this.onceKey(once)) ?? false
  }

  /** Reads again if the log has grown. Only valid with a session. */
  reopen(): FoundSession {
    const { session, end } = this.#found!
    if (session.log.identity().size !== end) this.#found = { session, ...session.openTo() }
    return this.#found!
  }

  drainOutbox(amend: (draft: EntryDraft) => EntryDraft = (draft) => draft): void {
    const { session } = this
    if (session === undefined) return
    this.attempt(() => {
      const drained = drainOutbox(session, (left) => {
        const amended = amend(left)
        this.#clean(session, [amended])
        return amended
      })
      if (drained > 0) this.reopen()
    })
  }

  /** Appends what the conversation captured before it had a session. */
  drainPending(): void {
    const { session, conversationState } = this
    if (session === undefined || conversationState.unbound === undefined) return
    this.attempt(() => {
      if (drainPending(session, this.event.conversation) > 0) this.reopen()
      const { unbound: _unbound, ...rest } = this.conversationState
      this.conversationState = rest
    })
  }

  dropRecorded(): void {
    const { session } = this
    if (session === undefined || this.drafts.length === 0) return
    const { once } = this.reopen().state
    const fresh = this.drafts.filter((each) => each.once === undefined || !once.includes(each.once))
    this.drafts.splice(0, this.drafts.length, ...fresh)
  }

  /** Appends the drafts so far, so that the state has them. */
  flush(): boolean {
    const { session } = this
    if (session === undefined || this.drafts.length === 0) return true
    return this.attempt(() => {
      this.#append(session)
      this.reopen()
    })
  }

  /** A failure is recorded for `stint doctor` and changes nothing else. */
  finish({ isCareful = false } = {}): void {
    const { session } = this
    const isRecorded = this.attempt(() => {
      if (session === undefined) this.#leavePending()
      else this.#append(session)
    })
    // Entries were not written, so the next event must take the handler.
    if (!isRecorded) {
      const { settled: _settled, ...rest } = this.conversationState
      this.conversationState = rest
    }
    // Another hook may have written newer state.
    this.attempt(() => {
      if (
        !isCareful ||
        conversationStateStamp(this.stateFolder, this.event.conversation) === this.#stamp
      )
        writeConversationState(this.stateFolder, this.conversationState)
    })
    this.runDeferred()
    // Otherwise each hook would read a longer log tail than the last.
    if (session !== undefined && this.#found!.bytesRead > LONG_TAIL)
      this.attempt(() => writeQuickViews(this.reopen()))
  }

  #leavePending(): void {
    const drafts = this.drafts.splice(0)
    const { ended } = this.conversationState
    // What follows right after closing a session is not new work, unless there is a new request.
    const isOver = ended !== undefined && !ended.askedSince
    if (this.config.auto === 'off' || isOver || drafts.length === 0) return
    this.update({ unbound: this.conversationState.unbound ?? { requests: 0, tools: 0 } })
    for (const draft of drafts) addPending(this.paths, this.event.conversation, draft)
  }

  #append(session: LiveSession): void {
    const drafts = this.drafts.splice(0)
    this.#clean(session, drafts)
    session.append(drafts)
  }

  /**
   * Text on which the user's patterns time out is not recorded: it may contain what they should
   * redact.
   */
  #clean(session: LiveSession, drafts: readonly EntryDraft[]): void {
    if (this.config.redact.patterns.length > 0)
      runWithTimeout(() => session.clean(drafts), CLEANING_MS)
  }

  #sessionToWorkOn(): FoundSession | undefined {
    const { STINT_SESSION: named } = this.env
    if (named !== undefined && named !== '') return findNamedSession(this.paths, this.config, named)
    const { session: bound } = this.conversationState
    if (bound !== undefined) {
      const found = openSessionById(this.paths, this.config, bound, { isBound: true })
      if (found?.state.status === 'active') return found
      this.#paused = found
      const { session: _ended, ...rest } = this.conversationState
      this.conversationState = { ...rest, ended: { session: bound, askedSince: false } }
    }
    const { active } = this.sessionsHere
    if (active !== undefined) this.update({ session: active.session.id })
    return active
  }
}

/** A repository, or a folder with sessions. */
export function isProjectFolder(paths: ProjectPaths): boolean {
  return paths.repository !== undefined || existsSync(paths.sessions)
}

/**
 * Writes the views that need no full read of the journal. The document is rendered by a background
 * hook or the next command.
 */
export function writeQuickViews({ session, state, end }: Omit<FoundSession, 'read'>): void {
  replaceUnsynced(join(session.folder, 'progress.md'), renderProgress(state))
  writeOpenSession(session.paths, state)
  writeSnapshot(session.snapshotPath, session.log, end, state)
}
