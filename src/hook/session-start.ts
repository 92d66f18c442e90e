import { closeSync, fstatSync } from 'node:fs'
import { lineForPerson } from '../context/person-line.ts'
import type { HookEventOf } from '../harness/contract/hooks.ts'
import { appendLine, openRegularFile } from '../journal/write-files.ts'
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
import { isRefusedJournal } from '../project/store/project-paths.ts'
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
  recordJoined,
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
  if (source === 'clear') takeOverClearedSession(context)
  if (context.conversationState.looked === undefined) skipExistingTranscript(context)
  else await readTranscript(context)
  beginWindow(context)
  if (context.session === undefined) return reportOtherSessions(context)

  const last = context.state.conversations.items.at(-1)?.text
  recordGitChanges(context)
  if (!isCompacted) await readPreviousTranscript(context)
  context.flush()
  if (isCompacted) joinSessionIfNew(context, source)
  else {
    context.drainPending()
    recordJoined(context, source)
  }
  // The transcript does not show this compaction yet.
  const { compactions } = context.state
  const state = isCompacted ? { ...context.state, compactions: compactions + 1 } : context.state
  context.respond({ person: lineForPerson(state) })
  if (isResumedWithContext(context, writtenContentSum(state), last)) return
  await injectSession(context, state, { level: isCompacted ? 'full' : 'start', why: source })
}

export function sessionStartFast(context: HookContext<SessionStart>): boolean {
  const { source, conversation } = context.event
  const session = sessionFor(context)
  const precomputed = session === undefined ? undefined : precomputedFor(context, session)
  if (session === undefined || precomputed === undefined) return false
  const isCompacted = source === 'compact'
  // The precomputed text must know this conversation, or it attributes the last words to another.
  if (isCompacted && (precomputed.conversation !== conversation || !precomputed.isJoined))
    return false
  const response = isCompacted ? precomputed.compacted : precomputed.start
  const isKnown = isResumedWithContext(context, response.essence, precomputed.conversations.at(-1))
  // The precomputed text for a new conversation attributes the last words to another.
  if (source === 'resume' && !isKnown) return false

  context.update({ session })
  if (context.conversationState.looked === undefined) skipExistingTranscript(context)
  beginWindow(context)
  if (!isCompacted) recordJoined(context, source)
  context.respond({ person: response.person })
  if (!isKnown) inject(context, response, { level: isCompacted ? 'full' : 'start', why: source })
  exportConversation(context)
  context.defer(() => removeClearedSession(context))
  return true
}

/** Only a resumed conversation still has what was injected before. */
function beginWindow(context: HookContext<SessionStart>): void {
  const { source } = context.event
  if (source === 'compact') context.update({ awaitsBoundary: true })
  const { given } = context.conversationState
  if (source !== 'resume') startContextWindow(context)
  // Delivery may work in the new process.
  else if (given !== undefined) context.update({ given: { ...given, attempts: 0 } })
}

/**
 * The resumed conversation has the context, and no other conversation worked on the session since.
 */
function isResumedWithContext(
  { event, conversationState }: HookContext<SessionStart>,
  essence: string,
  last: string | undefined,
): boolean {
  return (
    event.source === 'resume' &&
    last === event.conversation &&
    isDelivered(conversationState, essence)
  )
}

/** Messages from before hooks followed the conversation do not belong to the session. */
function skipExistingTranscript(context: HookContext): void {
  const { transcript } = context.conversationState
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return
  const { size, ino } = fstatSync(fd)
  closeSync(fd)
  context.update({ looked: { offset: size, inode: ino } })
}

/** Tells commands that the agent runs which conversation they belong to. */
function exportConversation(context: HookContext): void {
  const { [context.protocol.variables.shellFile]: path } = context.env
  if (path !== undefined && path.startsWith('/'))
    context.defer(() => appendLine(path, `export STINT_CONVERSATION=${context.event.conversation}`))
}

function reportOtherSessions(context: SessionContext): void {
  const { several } = context.sessionsHere
  if (several.length > 0) {
    return context.respond({
      person: `📋 Several sessions are active here (${several.join(', ')}): /session-resume NAME chooses one`,
    })
  }
  const { paused, paths } = context
  if (paused !== undefined)
    return context.respond({
      person: `📋 ${paused.state.name} is paused: /session-resume goes on with it`,
    })
  const foreign = (listOpenSessions(paths) ?? []).filter(({ id }) => isRefusedJournal(paths, id))
  if (foreign.length > 0)
    context.respond({
      person: `📋 This repository brings ${foreign.length === 1 ? 'a session' : `${foreign.length} sessions`} from elsewhere, not used until you agree: stint trust`,
    })
}

function takeOverClearedSession(context: SessionContext): void {
  const session = readClearedSession(context)
  context.defer(() => removeClearedSession(context))
  const found =
    session === undefined ? undefined : openSessionById(context.paths, context.config, session)
  if (found?.state.status === 'active') context.bindTo(found)
}

function sessionFor(context: HookContext<SessionStart>): string | undefined {
  const { event, paths, conversationState } = context
  const cleared = event.source === 'clear' ? readClearedSession(context) : undefined
  const named = cleared ?? conversationState.session
  if (named !== undefined)
    return readOpenSession(paths, named)?.status === 'active' ? named : undefined
  const active = listOpenSessions(paths)?.filter(
    (open) => open.status === 'active' && belongsHere(open, paths, context.head),
  )
  return active?.length === 1 ? active[0]!.id : undefined
}

const IRRELEVANT_KINDS = new Set([
  'conversation.joined',
  'conversation.ended',
  'context.given',
  'checkpoint.made',
])

function precomputedFor(context: HookContext, session: string): Precomputed | undefined {
  const { paths, head, stateFolder, conversationState, event } = context
  const precomputed = readValidPrecomputed(paths, session)
  if (precomputed === undefined || hasPendingWork(conversationState)) return undefined
  if (kindsInOutbox(paths, session).some((kind) => !IRRELEVANT_KINDS.has(kind))) return undefined
  const { branch, commit } = precomputed.git
  if (branch !== head.branch || commit !== head.commit) return undefined
  // A killed previous conversation may have unread transcript.
  const before = precomputed.conversations.findLast((known) => known !== event.conversation)
  const previous = before === undefined ? undefined : readConversationState(stateFolder, before)
  const isOfThisHarness = previous === undefined || previous.harness === conversationState.harness
  const isAllRead = [conversationState, ...(previous === undefined ? [] : [previous])].every(
    (each) => isTranscriptRead(context, each),
  )
  return isOfThisHarness && isAllRead ? precomputed : undefined
}

function isTranscriptRead(
  { protocol }: HookContext,
  conversationState: ConversationState,
): boolean {
  const { transcript, looked } = conversationState
  if (transcript === undefined || statOrUndefined(transcript) === undefined) return true
  if (looked === undefined) return false
  const written = scanQuietTranscript(protocol.transcriptPatterns, conversationState)
  return written !== undefined && !includesAny(written, protocol.transcriptPatterns.commands)
}
