import { closeSync, fstatSync } from 'node:fs'
import { lineForPerson } from '../context/person-line.ts'
import type { HookEventOf } from '../harness/contract/hooks.ts'
import { appendLine, openRegularFile } from '../journal/files.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import {
  type ConversationState,
  readConversationState,
} from '../project/conversation/conversation-state.ts'
import {
  belongsHere,
  listOpenSessions,
  readOpenSession,
} from '../project/store/open-session-files.ts'
import { kindsInOutbox } from '../project/store/outbox.ts'
import type { HookContext } from './hook-context.ts'
import { hasPendingWork } from './fast.ts'
import { openSessionById } from './find-session.ts'
import { recordGitChanges } from './git-changes.ts'
import {
  writtenContentSum,
  inject,
  injectSession,
  isDelivered,
  startContextWindow,
} from './inject.ts'
import {
  readClearedSession,
  removeClearedSession,
  joinSession,
  joinSessionIfNew,
} from './join-session.ts'
import { type Precomputed, readValidPrecomputed } from './precomputed.ts'
import type { SessionContext } from './session-context.ts'
import { includesAny, scanQuietTranscript } from './transcript-scan.ts'
import { readPreviousTranscript, readTranscript } from './transcript.ts'

type SessionStart = HookEventOf<'sessionStart'>

/** Binds the conversation to its session and injects the session's context. */
export async function onSessionStart(context: SessionContext<SessionStart>): Promise<void> {
  const { source } = context.event
  const isCompacted = source === 'compact'
  exportConversation(context)
  if (source === 'clear') takeOver(context)
  if (context.tracking.looked === undefined) skipEarlier(context)
  else await readTranscript(context)
  beginWindow(context)
  if (context.session === undefined) return mentionOthers(context)

  const last = context.state.conversations.items.at(-1)?.text
  recordGitChanges(context)
  if (!isCompacted) await readPreviousTranscript(context)
  context.flush()
  if (isCompacted) joinSessionIfNew(context, source)
  else joinSession(context, source)
  // The harness is about to count this one; the transcript does not show it yet.
  const { compactions } = context.state
  const state = isCompacted ? { ...context.state, compactions: compactions + 1 } : context.state
  context.respond({ person: lineForPerson(state) })
  if (isResumedWith(context, writtenContentSum(state), last)) return
  await injectSession(context, state, { level: isCompacted ? 'full' : 'start', why: source })
}

/** From what was precomputed. */
export function sessionStartFast(context: HookContext<SessionStart>): boolean {
  const { source, conversation } = context.event
  const session = sessionFor(context)
  const precomputed = session === undefined ? undefined : precomputedFor(context, session)
  if (session === undefined || precomputed === undefined) return false
  const isCompacted = source === 'compact'
  // The last words in it are this conversation's only if it was made after it.
  if (isCompacted && (precomputed.conversation !== conversation || !precomputed.isJoined))
    return false
  const response = isCompacted ? precomputed.compacted : precomputed.start
  const isKnown = isResumedWith(context, response.essence, precomputed.conversations.at(-1))
  // The text for one that begins speaks of this one as of another.
  if (source === 'resume' && !isKnown) return false

  context.updateTracking({ session })
  if (context.tracking.looked === undefined) skipEarlier(context)
  beginWindow(context)
  if (!isCompacted) joinSession(context, source)
  context.respond({ person: response.person })
  if (!isKnown) inject(context, response, { level: isCompacted ? 'full' : 'start', why: source })
  exportConversation(context)
  context.defer(() => removeClearedSession(context))
  return true
}

/** Only a resumed conversation still has what was injected before. */
function beginWindow(context: HookContext<SessionStart>): void {
  const { source } = context.event
  if (source === 'compact') context.updateTracking({ awaitsBoundary: true })
  const { given } = context.tracking
  if (source !== 'resume') startContextWindow(context)
  // In another process it may well be delivered.
  else if (given !== undefined) context.updateTracking({ given: { ...given, attempts: 0 } })
}

/** A resumed conversation has everything, and no other worked on the session since. */
function isResumedWith(
  { event, tracking }: HookContext<SessionStart>,
  essence: string,
  last: string | undefined,
): boolean {
  return event.source === 'resume' && last === event.conversation && isDelivered(tracking, essence)
}

/** What was said before hooks followed the conversation is not this session's. */
function skipEarlier(context: HookContext): void {
  const { transcript } = context.tracking
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return
  const { size, ino } = fstatSync(fd)
  closeSync(fd)
  context.updateTracking({ looked: { offset: size, inode: ino } })
}

/** A command that the agent runs then knows its conversation. */
function exportConversation(context: HookContext): void {
  const { [context.protocol.variables.shellFile]: path } = context.env
  if (path !== undefined && path.startsWith('/'))
    context.defer(() => appendLine(path, `export STINT_CONVERSATION=${context.event.conversation}`))
}

function mentionOthers(context: SessionContext): void {
  const { several } = context.sessionsHere
  if (several.length > 0) {
    return context.respond({
      person: `📋 Several sessions are active here (${several.join(', ')}): /session-resume NAME chooses one`,
    })
  }
  const { paused } = context
  if (paused !== undefined)
    context.respond({
      person: `📋 ${paused.state.name} is paused: /session-resume goes on with it`,
    })
}

/** A cleared conversation hands its session to the next one. */
function takeOver(context: SessionContext): void {
  const session = readClearedSession(context)
  context.defer(() => removeClearedSession(context))
  const found =
    session === undefined ? undefined : openSessionById(context.place, context.config, session)
  if (found?.state.status === 'active') context.bindTo(found)
}

function sessionFor(context: HookContext<SessionStart>): string | undefined {
  const { event, place, tracking } = context
  const cleared = event.source === 'clear' ? readClearedSession(context) : undefined
  const named = cleared ?? tracking.session
  if (named !== undefined)
    return readOpenSession(place, named)?.status === 'active' ? named : undefined
  const active = listOpenSessions(place)?.filter(
    (open) => open.status === 'active' && belongsHere(open, place, context.head),
  )
  return active?.length === 1 ? active[0]!.id : undefined
}

const HARMLESS = new Set([
  'conversation.joined',
  'conversation.ended',
  'context.given',
  'checkpoint.made',
])

function precomputedFor(context: HookContext, session: string): Precomputed | undefined {
  const { place, head, stateFolder, tracking, event } = context
  const precomputed = readValidPrecomputed(place, session)
  if (precomputed === undefined || hasPendingWork(tracking)) return undefined
  if (kindsInOutbox(place, session).some((kind) => !HARMLESS.has(kind))) return undefined
  const { branch, commit } = precomputed.git
  if (branch !== head.branch || commit !== head.commit) return undefined
  // The transcript of a killed conversation before it may have more to record.
  const before = precomputed.conversations.findLast((known) => known !== event.conversation)
  const previous = before === undefined ? undefined : readConversationState(stateFolder, before)
  const isOfThisHarness = previous === undefined || previous.harness === tracking.harness
  const isAllRead = [tracking, ...(previous === undefined ? [] : [previous])].every((each) =>
    isRead(context, each),
  )
  return isOfThisHarness && isAllRead ? precomputed : undefined
}

function isRead({ protocol }: HookContext, tracking: ConversationState): boolean {
  const { transcript, looked } = tracking
  if (transcript === undefined || statOrUndefined(transcript) === undefined) return true
  if (looked === undefined) return false
  const bytes = scanQuietTranscript(protocol.transcriptPatterns, tracking)
  return bytes !== undefined && !includesAny(bytes, protocol.transcriptPatterns.commands)
}
