import { existsSync } from 'node:fs'
import {
  type Tracking,
  newTracking,
  readTracking,
  stampOf,
  writeTracking,
} from '../project/conversation/tracking.ts'
import { noteTrouble } from '../project/conversation/troubles.ts'
import { type Head, readHead } from '../git/head.ts'
import type { HookEvent } from '../harness/claude/events.ts'
import type { Config } from '../project/config/config.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { absorbOutbox } from '../project/store/outbox.ts'
import type { Place } from '../project/store/place.ts'
import { type Draft, type EntryData, type EntryKind, draft } from '../session/entries.ts'
import type { SessionState } from '../session/state.ts'
import type { Answer } from './answer.ts'
import { writeQuickViews } from './quick-views.ts'
import { type Found, type Here, namedSession, openById, sessionsHere } from './find-session.ts'
import { withinTime } from './within-time.ts'
import { defined } from '../text/defined.ts'

const CLEANING_MS = 300
/** git is asked only where its files do not say it, and an agent waits for it. */
const GIT_MS = 400

const LONG_TAIL = 32 * 1024

/** One event: where it happened, what is known there, and what is to be written and answered. */
export class Scene<E extends HookEvent = HookEvent> {
  readonly now: string
  readonly notes: string
  tracking: Tracking
  answer: Answer = {}
  readonly drafts: Draft[] = []
  #found: Found | undefined
  #here: Here | undefined
  #paused: Found | undefined
  #head: Head | undefined
  readonly #stamp: string

  constructor(
    readonly event: E,
    readonly place: Place,
    readonly config: Config,
    readonly env: NodeJS.ProcessEnv,
    /** Whether what was left for the session is taken in as it is opened. */
    absorbs = true,
  ) {
    this.now = new Date().toISOString()
    this.notes = trackingFolderOf(place)
    this.#stamp = stampOf(this.notes, event.conversation)
    const known =
      readTracking(this.notes, event.conversation) ?? newTracking('claude', event.conversation)
    this.tracking = {
      ...known,
      harness: 'claude',
      ...defined({ transcript: event.transcript }),
      fired: { ...known.fired, [event.name]: this.now },
    }
    this.#found = this.#sessionToWorkOn()
    if (absorbs) this.absorb()
  }

  get session(): LiveSession | undefined {
    return this.#found?.session
  }

  /** The state of the session as it was found. Only where there is one. */
  get state(): SessionState {
    return this.#found!.state
  }

  /** What else is open here, for a conversation that works on nothing yet. */
  get here(): Here {
    this.#here ??= sessionsHere(this.place, this.config, this.head)
    return this.#here
  }

  get head(): Head {
    this.#head ??=
      this.place.repository === undefined ? {} : readHead(this.place.repository, GIT_MS)
    return this.#head
  }

  /** The session that was set down here, or by this conversation. */
  get paused(): Found | undefined {
    return this.#paused ?? this.here.paused
  }

  /** From now on the conversation works on this session. */
  workOn(found: Found): void {
    this.#found = found
    this.tracking = { ...this.tracking, session: found.session.id }
  }

  note(changes: Partial<Tracking>): void {
    this.tracking = { ...this.tracking, ...changes }
  }

  /** Records an entry; `once` tells an event that two hooks noticed. */
  record<K extends EntryKind>(kind: K, data: EntryData[K], once?: string): void {
    const key = once === undefined ? undefined : `claude:${once}`
    if (key !== undefined && (this.#found?.state.once.includes(key) ?? false)) return
    this.drafts.push(draft(kind, data, { by: 'hook', ...defined({ once: key }) }) as Draft)
  }

  /** Adds to what is put before the model, or said to the person. */
  say(more: Answer): void {
    const joined = (a: string | undefined, b: string | undefined) =>
      a !== undefined && b !== undefined ? `${a}\n${b}` : (a ?? b)
    const person = joined(this.answer.person, more.person)
    const model = joined(this.answer.model, more.model)
    const plain = joined(this.answer.plain, more.plain)
    this.answer = {
      ...defined({ person, model, plain }),
    }
  }

  /** Takes in what other hooks left for the session. */
  absorb(amend?: (draft: Draft) => Draft): void {
    const { session } = this
    if (session === undefined) return
    this.attempt(() => {
      if (this.#takeIn(session, amend) > 0) this.#found = { session, ...session.openTo() }
    })
  }

  /** Drops what another hook has recorded since the state was read. */
  dropRecorded(): void {
    const { session } = this
    if (session === undefined || this.drafts.length === 0) return
    const { once } = session.open()
    const fresh = this.drafts.filter((each) => each.once === undefined || !once.includes(each.once))
    this.drafts.splice(0, this.drafts.length, ...fresh)
  }

  /** Writes what was recorded so far, so that the state shows it. Answers whether it went well. */
  flush(): boolean {
    const found = this.#found
    if (found === undefined || this.drafts.length === 0) return true
    return this.attempt(() => {
      this.#append(found.session)
      this.#found = { session: found.session, ...found.session.openTo() }
    })
  }

  /** Writes what was recorded and noted. What fails is noted where it can be, and changes nothing else. */
  finish({ isCareful = false } = {}): void {
    const isRecorded = this.attempt(() => {
      if (this.session !== undefined) this.#append(this.session)
    })
    // What was not recorded is not settled: the next event has to look again.
    if (!isRecorded) {
      const { settled: _settled, ...rest } = this.tracking
      this.tracking = rest
    }
    // What another hook noted meanwhile is newer than what this one read.
    this.attempt(() => {
      if (!isCareful || stampOf(this.notes, this.event.conversation) === this.#stamp)
        writeTracking(this.notes, this.tracking)
    })
    const found = this.#found
    // Where nothing else renews the snapshot, reading the log's growing end would cost each hook more than the last.
    if (found !== undefined && found.read > LONG_TAIL)
      this.attempt(() => writeQuickViews(found.session))
  }

  #takeIn(session: LiveSession, amend?: (draft: Draft) => Draft): number {
    return absorbOutbox(session, (draft) => {
      const amended = amend?.(draft) ?? draft
      if (this.config.redact.patterns.length > 0)
        withinTime(() => session.clean([amended]), CLEANING_MS)
      return amended
    })
  }

  /** What patterns of the user's do not get through in time is not recorded: it may be what they are there to keep out. */
  #append(session: LiveSession): void {
    const drafts = this.drafts.splice(0)
    if (this.config.redact.patterns.length > 0) withinTime(() => session.clean(drafts), CLEANING_MS)
    session.append(drafts)
  }

  /** Whether it went well; what went wrong is noted. */
  attempt(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      this.trouble(error)
      return false
    }
  }

  async attemptAsync(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.trouble(error)
    }
  }

  trouble(error: unknown): void {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const { name, conversation } = this.event
    noteTrouble(this.notes, {
      at: this.now,
      event: name,
      conversation,
      message: message.slice(0, 2000),
    })
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
    if (active !== undefined) this.tracking = { ...this.tracking, session: active.session.id }
    return active
  }
}

/** Whether anything of ours can be here: a repository, or a folder that has sessions. */
export function isOurs(place: Place): boolean {
  return place.repository !== undefined || existsSync(place.sessions)
}
