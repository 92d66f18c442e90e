import type { HookEventOf } from '../harness/contract/hooks.ts'
import { endConversation } from '../history/lock.ts'
import { isCopied } from '../project/conversation/conversation-state.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import type { EntryData } from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { LONGEST_MESSAGE, LONGEST_RESULT, redactAndClip } from '../project/store/redact-and-clip.ts'
import type { HookContext } from './hook-context.ts'
import { copyConversation } from '../project/history/copy-conversation.ts'
import { isTranscriptQuiet, upToDateSession } from './fast.ts'
import { recordGitChanges } from './git-changes.ts'
import { joinSessionIfNew, saveClearedSession } from './join-session.ts'
import { type SessionContext, writeQuickViews } from './session-context.ts'
import { readTranscript } from './transcript.ts'
import { readValidPrecomputed } from './precomputed.ts'
import { kindsInOutbox } from '../project/store/outbox.ts'
import { isWorkByReply, openSessionIf } from './trivial-conversation.ts'

const CHUNK_BYTES = 64 * 1024

type Stop = HookEventOf<'stop'>
type SubagentStop = HookEventOf<'subagentStop'>
type SessionEnd = HookEventOf<'sessionEnd'>

export async function onStop(context: SessionContext<Stop>): Promise<void> {
  const { facts } = await readTranscript(context)
  const { usage: latest, fired } = context.conversationState
  // The transcript lags behind the event: its last message may belong to the previous turn.
  const isOfThisTurn = (facts?.lastAssistantAt ?? '') > (fired.UserPromptSubmit ?? '')
  const message = context.event.lastMessage ?? (isOfThisTurn ? facts?.lastText : undefined)
  if (message !== undefined || latest !== undefined) {
    const { model, ...usage } = latest ?? {}
    const used = latest === undefined ? {} : { usage: usage as typeof latest }
    recordTurn(context, message, { ...defined({ model }), ...used })
  }
  await openSessionIf(context, isWorkByReply(message ?? ''))
  if (context.session === undefined) return
  joinSessionIfNew(context, 'stop')
  recordGitChanges(context)
}

/** The background hook records what only the transcript shows. */
export function stopFast(context: HookContext<Stop>): boolean {
  const { lastMessage } = context.event
  if (upToDateSession(context) === undefined || lastMessage === undefined) return false
  if (lastMessage.trim() !== '') recordTurn(context, lastMessage)
  return true
}

export function recordStopUnread(context: HookContext<Stop>): void {
  if (context.event.lastMessage !== undefined) recordTurn(context, context.event.lastMessage)
}

function recordTurn(
  context: HookContext,
  message = '',
  used: Pick<EntryData['turn.ended'], 'model' | 'usage'> = {},
): void {
  const { conversation } = context.event
  const text =
    message.trim() === ''
      ? undefined
      : redactAndClip(message.trim(), LONGEST_MESSAGE, context.config)
  context.record('turn.ended', { conversation, ...defined({ said: text }), ...used })
}

export function onSubagentStop(context: SessionContext<SubagentStop>): void {
  if (context.session !== undefined) recordAgent(context)
}

export function subagentStopFast(context: HookContext<SubagentStop>): boolean {
  return upToDateSession(context) !== undefined && recordAgent(context)
}

export function recordAgent(context: HookContext<SubagentStop>): boolean {
  const { agent, type, conversation, lastMessage } = context.event
  if (lastMessage === undefined) return false
  const { [agent]: task } = context.conversationState.agents
  const result = redactAndClip(lastMessage, LONGEST_RESULT, context.config)
  const data = { agent, type, conversation, result, ...defined({ task }) }
  context.record('agent.finished', data, `agent:${agent}`)
  return true
}

export type RefreshViews = (
  session: LiveSession,
) => Promise<{ readonly notices: readonly string[] }>

/** The harness ends the hook after 1.5 seconds; a longer log is rendered by the next event. */
const MAX_RENDERED_LOG = 4 * 1024 * 1024

/** No other hook runs after this, and the background half of the last one may have been killed. */
export async function onSessionEnd(
  context: SessionContext<SessionEnd>,
  refreshViews: RefreshViews,
): Promise<void> {
  await readTranscript(context)
  const { session } = context
  if (session === undefined) return
  recordGitChanges(context)
  recordEnd(context, session.id)
  context.flush()
  context.attempt(() => writeQuickViews(context.reopen()))
  if (session.log.identity().size <= MAX_RENDERED_LOG)
    await context.attemptAsync(async () => {
      const { notices } = await refreshViews(session)
      for (const notice of notices) context.recordError(notice)
    })
  context.attempt(() =>
    copyConversation(context.paths, context.config, context.conversationState, CHUNK_BYTES),
  )
}

/** Only if everything was read, copied and rendered before. */
export function sessionEndFast(context: HookContext<SessionEnd>): boolean {
  const session = upToDateSession(context)
  const { stateFolder, conversationState } = context
  if (
    session === undefined ||
    isClearedForOtherWork(context) ||
    !isTranscriptQuiet(context) ||
    !isCopied(stateFolder, conversationState) ||
    readValidPrecomputed(context.paths, session.id)?.isRendered !== true ||
    kindsInOutbox(context.paths, session.id).length > 0
  )
    return false
  recordEnd(context, session.id)
  return true
}

function recordEnd(context: HookContext<SessionEnd>, session: string): void {
  const { conversation, reason } = context.event
  const { sessions } = context.paths
  const isPausing = isClearedForOtherWork(context)
  if (reason === 'clear' && !isPausing) context.defer(() => saveClearedSession(context, session))
  context.record('conversation.ended', { conversation, reason })
  if (isPausing)
    context.record('session.paused', { note: 'cleared for other work', ...context.git })
  context.defer(() => endConversation(sessions, conversation, { at: context.now, reason }))
}

/** The user accepted the offer of the last prompt: the next conversation starts without this session. */
function isClearedForOtherWork({ event, conversationState }: HookContext<SessionEnd>): boolean {
  return event.reason === 'clear' && conversationState.isClearOffered === true
}
