import {
  type Tracking,
  newTracking,
  readTracking,
  writeTracking,
} from '../../project/conversation/tracking.ts'
import type { EventOf } from '../../harness/claude/events.ts'
import { errnoOf } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { kindsInOutbox } from '../../project/store/outbox.ts'
import {
  belongsHere,
  listOpenSessions,
  readOpenSession,
} from '../../project/store/open-session-files.ts'
import type { Answer } from '../answer.ts'
import { dropHandedOver, seeHandedOver } from '../cleared.ts'
import { nameConversationInShell } from '../name-in-shell.ts'
import { type Prepared, isUpToDate, readPrepared } from '../prepared.ts'
import { withNewWindow } from '../new-window.ts'
import { glimpse, hasUnseenCommand, isTelling } from './glimpse.ts'
import { type Standing, headOf, leave } from './standing.ts'
import { defined } from '../../text/defined.ts'

/** Entries that change nothing of what is prepared. */
const HARMLESS = new Set([
  'conversation.joined',
  'conversation.ended',
  'context.given',
  'checkpoint.made',
])

/** A conversation that begins, or goes on, is told what was made ready for it. */
export function startQuickly(standing: Standing<EventOf<'sessionStart'>>): Answer | undefined {
  const { event, env, notes, now } = standing
  const { source, conversation, transcript } = event
  const session = sessionFor(standing)
  const prepared = session === undefined ? undefined : preparedFor(standing, session)
  if (session === undefined || prepared === undefined) return undefined
  const isCompacted = source === 'compact'
  // What it says last of is this conversation's only if it was made after it.
  if (isCompacted && (prepared.conversation !== conversation || !prepared.isJoined))
    return undefined

  const known = standing.tracking ?? newTracking('claude', conversation)
  const followed = { ...known, session, ...defined({ transcript }) }
  const begun = begin(followed, source)
  const { given } = begun
  const isLast = prepared.conversations.at(-1) === conversation
  const hasIt =
    source === 'resume' && given?.isProved === true && given.essence === prepared.essence && isLast
  // What is made ready for one that begins speaks of this one as of another.
  if (source === 'resume' && !hasIt) return undefined
  const { text, mark, instead, essence, person, level, because } = isCompacted
    ? { ...prepared.compacted, level: 'full' as const, because: source }
    : {
        ...prepared.start,
        essence: prepared.essence,
        person: prepared.person,
        level: 'start' as const,
        because: source,
      }

  const fired = { ...known.fired, [event.name]: now }
  const giving = { mark, event: event.name, at: now, level, essence, attempts: 1, isProved: false }
  writeTracking(notes, { ...begun, fired, ...(hasIt ? {} : { sawBoundary: false, given: giving }) })
  if (!isCompacted) {
    const from = transcript === undefined ? {} : { transcript }
    leave(standing, session, 'conversation.joined', {
      conversation,
      harness: 'claude',
      source,
      ...from,
    })
  }
  if (!hasIt) {
    const chars = text.length
    leave(standing, session, 'context.given', {
      conversation,
      event: event.name,
      mark,
      chars,
      why: because,
      ...instead,
    })
  }
  afterwards(() => dropHandedOver(notes, env))
  afterwards(() => nameConversationInShell(env, conversation))
  return hasIt ? { person } : { person, model: text }
}

/** By now it is served: what goes wrong here must not have it served again. */
function afterwards(work: () => void): void {
  try {
    work()
  } catch (error) {
    // The harness named a file that cannot be written, or the disk is full.
    if (errnoOf(error) === undefined) throw error
  }
}

function sessionFor(standing: Standing<EventOf<'sessionStart'>>): string | undefined {
  const { event, place, env, notes, tracking } = standing
  const handed = event.source === 'clear' ? seeHandedOver(notes, env) : undefined
  const named = handed ?? tracking?.session
  if (named !== undefined)
    return readOpenSession(place, named)?.status === 'active' ? named : undefined
  const active = listOpenSessions(place)?.filter(
    (open) => open.status === 'active' && belongsHere(open, place, headOf(standing)),
  )
  return active?.length === 1 ? active[0]!.id : undefined
}

function preparedFor(standing: Standing, session: string): Prepared | undefined {
  const { place, notes, tracking, event } = standing
  const prepared = readPrepared(place, session)
  if (prepared === undefined || !isUpToDate(prepared, place, session)) return undefined
  if (kindsInOutbox(place, session).some((kind) => !HARMLESS.has(kind))) return undefined
  const { branch, commit } = headOf(standing)
  if (branch !== prepared.git.branch || commit !== prepared.git.commit) return undefined
  const isPending =
    tracking !== undefined &&
    (tracking.requests.length > 0 || tracking.files !== undefined || tracking.isOwed === true)
  if (isPending || tracking?.awaitsBoundary === true) return undefined
  // A conversation before it that was killed left things that only its transcript tells.
  const before = prepared.conversations.findLast((known) => known !== event.conversation)
  const previous = before === undefined ? undefined : readTracking(notes, before)
  return [tracking, previous].every((each) => each === undefined || isSeen(each))
    ? prepared
    : undefined
}

function isSeen(tracking: Tracking): boolean {
  if (tracking.transcript === undefined || statOrUndefined(tracking.transcript) === undefined)
    return true
  if (tracking.looked === undefined) return false
  const seen = glimpse(tracking)
  return seen !== undefined && !isTelling(seen) && !hasUnseenCommand(seen)
}

/** The notes of a conversation as they are at its start. */
function begin(known: Tracking, source: string): Tracking {
  const stat =
    known.looked !== undefined || known.transcript === undefined
      ? undefined
      : statOrUndefined(known.transcript)
  const passed =
    stat === undefined ? known : { ...known, looked: { offset: stat.size, inode: stat.ino } }
  if (source !== 'resume')
    return { ...withNewWindow(passed), ...(source === 'compact' ? { awaitsBoundary: true } : {}) }
  // In another process it may well arrive.
  return passed.given === undefined
    ? passed
    : { ...passed, given: { ...passed.given, attempts: 0 } }
}
