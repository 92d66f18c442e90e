// The first possible hook injects the session context. It counts as delivered once the transcript
// shows its marker.
import type { PackedContext } from '../context/injected-context.ts'
import { readProjectContext } from '../context/survey/cached-project-context.ts'
import { measureToon } from '../context/measure-toon.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { checksum } from '../journal/record.ts'
import type { ConversationState } from '../project/conversation/conversation-state.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { reportedSince } from '../session/kinds/delegates.ts'
import type { EntryData } from '../session/entries.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import type { HookContext } from './hook-context.ts'
import type { SessionContext } from './session-context.ts'

const MAX_ATTEMPTS = 3

export interface Injection {
  readonly text: string
  readonly mark: string
  /** Checksum of the written content when it was built. */
  readonly essence: string
  /** Size of the whole document, and of its tables as TOON and JSON. */
  readonly instead: Pick<EntryData['context.given'], 'whole' | 'toon'>
}

export function buildInjection(
  { text, mark }: PackedContext,
  session: LiveSession,
  state: SessionState,
): Injection {
  const whole = statOrUndefined(session.documentPath(state))?.size
  const instead = defined({ whole, toon: measureToon(text) })
  return { text, mark, essence: writtenContentSum(state), instead }
}

export type DeliveryStatus =
  | 'nothing injected'
  | 'delivered'
  | 'not yet known'
  | 'missing'
  | 'not recorded'

export type ContextLevel = 'start' | 'full'

export function inject(
  context: HookContext,
  { text, mark, essence, instead }: Injection,
  { level, why }: { level: ContextLevel; why: string },
): void {
  const { conversation, name: event } = context.event
  const attempts = (context.conversationState.given?.attempts ?? 0) + 1
  context.respond({ model: text })
  context.update({
    // No boundary follows this injection yet.
    sawBoundary: false,
    given: { mark, event, at: context.now, level, essence, attempts, isProved: false },
  })
  const data = { conversation, event, mark, chars: text.length, why, ...instead }
  context.record('context.given', data)
}

/** Gives up after a few attempts per window. */
export async function injectSession(
  context: SessionContext,
  state: SessionState,
  how: { level: ContextLevel; why: string },
): Promise<void> {
  const { session, conversationState, event, paths } = context
  if (session === undefined || (conversationState.given?.attempts ?? 0) >= MAX_ATTEMPTS) return
  // Loaded lazily: few events inject anything.
  const { packContext } = await import('../context/injected-context.ts')
  // A continued conversation already knows the repository.
  const project = how.level === 'start' ? readProjectContext(paths) : undefined
  const { conversation } = event
  const packed = packContext(state, {
    conversation,
    isForeign: session.log.isForeign,
    ...defined({ project }),
  })
  inject(context, buildInjection(packed, session, state), how)
}

/**
 * If the client does not record hook output, the context is injected a second time after a
 * compaction: twice is better than never.
 */
export async function injectUndelivered(
  context: SessionContext,
  delivery: DeliveryStatus,
): Promise<void> {
  if (context.session === undefined) return
  const { given, isOwed } = context.conversationState
  if (given === undefined) {
    // The transcript showed an unannounced compaction.
    if (isOwed === true)
      await injectSession(context, context.state, { level: 'full', why: 'compacted unannounced' })
    return context.update({ isOwed: false })
  }
  const isUnsure =
    delivery === 'not recorded' &&
    given.event === 'SessionStart' &&
    given.level === 'full' &&
    given.attempts === 1
  if (delivery !== 'missing' && !isUnsure) return
  const why = delivery === 'missing' ? 'did not arrive' : 'may not have arrived'
  await injectSession(context, context.state, { level: given.level, why })
}

export async function injectDelegateNews(context: SessionContext): Promise<void> {
  const { conversation, name: event } = context.event
  const { conversations, name: session } = context.state
  // Older news was in the context injected when it joined.
  const joined = conversations.items.findLast(({ text }) => text === conversation)?.id
  const news = reportedSince(context.state, context.conversationState.heard ?? joined ?? '')
  const latest = reportedSince(context.state, '').at(-1)?.reported
  if (latest !== undefined) context.update({ heard: latest })
  // An injected context contains the news, too.
  if (news.length === 0 || context.response.model !== undefined) return
  // Another hook may have overwritten our state, but the journal has the entry.
  const once = `news:${conversation}:${latest}`
  if (context.isRecorded(once)) return
  const { delegateNews } = await import('../context/delegate-news.ts')
  const { text, mark } = delegateNews(session, news)
  context.respond({ model: text })
  const data = { conversation, event, mark, chars: text.length, why: 'delegates reported' }
  context.record('context.given', data, once)
}

/** A new window contains no injected context. */
export function startContextWindow(context: HookContext): void {
  const { given: _given, nudgedAt: _at, sawBoundary: _saw, ...rest } = context.conversationState
  const windowNumber = (rest.windowNumber ?? 0) + 1
  context.conversationState = { ...rest, nudged: [], edits: 0, windowNumber }
}

/** Delivered, and nothing was written since. */
export function isDelivered({ given }: ConversationState, essence: string): boolean {
  return given?.isProved === true && given.essence === essence
}

/**
 * Checksum of what people and agents wrote. What hooks captured is left out: a resumed conversation
 * has it in its history.
 */
export function writtenContentSum(state: SessionState): string {
  const { id, goal, tldr, compactions, key, decisions, discoveries, blockers, next, steps } = state
  const { progress, notes, keyFiles, commands, sections, delegates } = state
  const written = [
    key,
    decisions,
    discoveries,
    blockers,
    next,
    progress,
    notes,
    keyFiles,
    commands,
    sections,
    delegates,
  ].map(({ items }) => items)
  const planned = steps.items.filter((step) => step.plan === undefined)
  return checksum(
    Buffer.from(JSON.stringify([id, goal, tldr?.text, compactions, written, planned])),
  )
}
