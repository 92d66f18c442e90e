import { existsSync } from 'node:fs'
import type { HarnessHooks, HookEvent } from '../harness/contract/hooks.ts'
import { readTracking, stampOf, writeTracking } from '../project/conversation/tracking.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { drainOutbox } from '../project/store/outbox.ts'
import type { Place } from '../project/store/place.ts'
import type { Draft } from '../session/entries.ts'
import type { SessionState } from '../session/state.ts'
import { HookContext, type HookRequest } from './context.ts'
import { type Found, type Here, namedSession, openById, sessionsHere } from './find-session.ts'
import { withinTime } from '../project/conversation/within-time.ts'
import { join } from 'node:path'
import { replaceUnsynced } from '../journal/files.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import { renderProgress } from '../document/progress.ts'
import { writeSnapshot } from '../document/snapshot.ts'

const CLEANING_MS = 300
const LONG_TAIL = 32 * 1024

/** With the conversation's session opened. */
export class SessionContext<E extends HookEvent = HookEvent> extends HookContext<E> {
  readonly hooks: HarnessHooks
  #found: Found | undefined
  #here: Here | undefined
  #paused: Found | undefined
  readonly #stamp: string

  constructor(request: HookRequest<E> & { readonly protocol: HarnessHooks }, drains = true) {
    const folder = trackingFolderOf(request.place)
    const { conversation } = request.event
    const stamp = stampOf(folder, conversation)
    super(request, readTracking(folder, conversation))
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

  /** Only where there is a session. */
  get state(): SessionState {
    return this.#found!.state
  }

  /** For a conversation that works on no session yet. */
  get here(): Here {
    this.#here ??= sessionsHere(this.place, this.config, this.head)
    return this.#here
  }

  get paused(): Found | undefined {
    return this.#paused ?? this.here.paused
  }

  workOn(found: Found): void {
    this.#found = found
    this.note({ session: found.session.id })
  }

  override isRecorded(once: string): boolean {
    return this.#found?.state.once.includes(this.onceOf(once)) ?? false
  }

  /** Read again if the log has grown. Only where there is a session. */
  reopen(): Found {
    const { session, end } = this.#found!
    if (session.log.identity().size !== end) this.#found = { session, ...session.openTo() }
    return this.#found!
  }

  drainOutbox(amend: (draft: Draft) => Draft = (draft) => draft): void {
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

  /** A failure is kept for `stint doctor` and changes nothing else. */
  finish({ isCareful = false } = {}): void {
    const { session } = this
    const isRecorded = this.attempt(() => {
      if (session !== undefined) this.#append(session)
    })
    // The next event has to inspect again what could not be recorded.
    if (!isRecorded) {
      const { settled: _settled, ...rest } = this.tracking
      this.tracking = rest
    }
    // The state that another hook wrote meanwhile is newer than the one read here.
    this.attempt(() => {
      if (!isCareful || stampOf(this.stateFolder, this.event.conversation) === this.#stamp)
        writeTracking(this.stateFolder, this.tracking)
    })
    this.runAfterwards()
    // Where nothing else renews the snapshot, reading the log's growing end would cost each hook more than the last.
    if (session !== undefined && this.#found!.read > LONG_TAIL)
      this.attempt(() => writeQuickViews(this.reopen()))
  }

  #append(session: LiveSession): void {
    const drafts = this.drafts.splice(0)
    this.#clean(session, drafts)
    session.append(drafts)
  }

  /** Text that the user's patterns do not get through in time is not recorded: it may be what they are for. */
  #clean(session: LiveSession, drafts: readonly Draft[]): void {
    if (this.config.redact.patterns.length > 0) withinTime(() => session.clean(drafts), CLEANING_MS)
  }

  #sessionToWorkOn(): Found | undefined {
    const { STINT_SESSION: named } = this.env
    if (named !== undefined && named !== '') return namedSession(this.place, this.config, named)
    const { session: bound } = this.tracking
    if (bound !== undefined) {
      const found = openById(this.place, this.config, bound)
      if (found?.state.status === 'active') return found
      this.#paused = found
      const { session: _ended, ...rest } = this.tracking
      this.tracking = { ...rest, ended: { session: bound, askedSince: false } }
    }
    const { active } = this.here
    if (active !== undefined) this.note({ session: active.session.id })
    return active
  }
}

/** A repository, or a folder with sessions. */
export function isOurs(place: Place): boolean {
  return place.repository !== undefined || existsSync(place.sessions)
}

/**
 * Saves what can be saved without reading the whole journal: the state as far as it is open or recent, and
 * `progress.md`. The document follows when somebody has the time: another hook that nobody waits for, or the next command.
 */
export function writeQuickViews({ session, state, end }: Omit<Found, 'read'>): void {
  replaceUnsynced(join(session.folder, 'progress.md'), renderProgress(state))
  writeOpenSession(session.place, state)
  writeSnapshot(session.snapshotPath, session.log, end, state)
}
