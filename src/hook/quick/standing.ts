import { type Tracking, readTracking } from '../../project/conversation/tracking.ts'
import { type Head, readHead } from '../../git/head.ts'
import type { HookEvent } from '../../harness/claude/events.ts'
import type { Config } from '../../project/config/config.ts'
import { trackingFolderOf } from '../../project/store/conversation-binding.ts'
import { leaveInOutbox } from '../../project/store/outbox.ts'
import { readOpenSession } from '../../project/store/open-session-files.ts'
import type { Place } from '../../project/store/place.ts'
import { type EntryData, type EntryKind, draft, type Draft } from '../../session/entries.ts'
import { isoTime } from '../../text/iso-time.ts'
import { placeOf } from '../place-of.ts'
import { rememberedConfig } from '../quick-config.ts'
import { isStillSettled } from '../settled.ts'

const GIT_MS = 400

/** Where an event happened, as far as small files tell. */
export interface Standing<E extends HookEvent = HookEvent> {
  readonly event: E
  readonly place: Place
  readonly env: NodeJS.ProcessEnv
  readonly now: string
  readonly notes: string
  readonly config: Config
  readonly tracking: Tracking | undefined
}

/** Undefined where somebody has to look closer. */
export function standingOf(event: HookEvent, env: NodeJS.ProcessEnv): Standing | undefined {
  if ((env.STINT_SESSION ?? '') !== '' || env.STINT_HOOKS === 'off') return undefined
  const place = placeOf(event, env)
  if (place.repository === undefined) return undefined
  const notes = trackingFolderOf(place)
  const config = rememberedConfig(place.sessions, notes)
  // What patterns of the person's own may take is not for here.
  if (config === undefined || config.redact.patterns.length > 0) return undefined
  const tracking = readTracking(notes, event.conversation)
  return { event, place, env, now: isoTime(Date.now()), notes, config, tracking }
}

/** A conversation that works on a session about which everything is recorded, as it stood when that was last looked at. */
export interface Settled {
  readonly session: string
  readonly tracking: Tracking
  /** Something became of a delegate that the conversation has not heard of. */
  readonly hasNews: boolean
}

export function settledOf({ place, tracking }: Standing): Settled | undefined {
  const { repository } = place
  if (repository === undefined || tracking?.session === undefined) return undefined
  if (tracking.settled?.session !== tracking.session) return undefined
  const { awaitsBoundary, isOwed, files, requests } = tracking
  if (awaitsBoundary === true || isOwed === true || files !== undefined || requests.length > 0)
    return undefined
  if (!isStillSettled(tracking.settled, repository, place.sessions)) return undefined
  const open = readOpenSession(place, tracking.session)
  if (open?.status !== 'active') return undefined
  return {
    session: open.id,
    tracking,
    hasNews: open.news !== undefined && open.news > (tracking.heard ?? ''),
  }
}

export function headOf({ place }: Standing): Head {
  return place.repository === undefined ? {} : readHead(place.repository, GIT_MS)
}

/** Leaves an entry for the session, to be taken in by whoever opens it next. */
export function leave<K extends EntryKind>(
  { place }: Standing,
  session: string,
  kind: K,
  data: EntryData[K],
  once?: string,
): void {
  const key = once === undefined ? {} : { once: `claude:${once}` }
  leaveInOutbox(place, session, draft(kind, data, { by: 'hook', ...key }) as Draft)
}
