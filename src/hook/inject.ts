// The session's context is injected by whichever hook comes first, and counts as delivered when its marker is found in
// the transcript.
import type { PackedContext } from '../context/pack.ts'
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

const ATTEMPTS = 3

export interface Injection {
  readonly text: string
  readonly mark: string
  /** A sum of what people had written when it was made. */
  readonly essence: string
  /** The size of the whole document, and of JSON in place of its tables. */
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
  const attempts = (context.tracking.given?.attempts ?? 0) + 1
  context.respond({ model: text })
  context.updateTracking({
    // What is injected now stands behind no boundary yet.
    sawBoundary: false,
    given: { mark, event, at: context.now, level, essence, attempts, isProved: false },
  })
  const data = { conversation, event, mark, chars: text.length, why, ...instead }
  context.record('context.given', data)
}

/** Unless that failed too often in this window. */
export async function injectSession(
  context: SessionContext,
  state: SessionState,
  how: { level: ContextLevel; why: string },
): Promise<void> {
  const { session, tracking, event, place } = context
  if (session === undefined || (tracking.given?.attempts ?? 0) >= ATTEMPTS) return
  // Few events inject anything, and only those pay for loading this.
  const { packContext } = await import('../context/pack.ts')
  // A conversation that continues knows the repository.
  const project = how.level === 'start' ? readProjectContext(place) : undefined
  const { conversation } = event
  const packed = packContext(state, { level: how.level, conversation, ...defined({ project }) })
  inject(context, buildInjection(packed, session, state), how)
}

/**
 * Injects again what was not delivered. Where the client does not write down what hooks inject, it is injected once
 * more after a compaction: twice is better than not at all.
 */
export async function injectUndelivered(
  context: SessionContext,
  delivery: DeliveryStatus,
): Promise<void> {
  if (context.session === undefined) return
  const { given, isOwed } = context.tracking
  if (given === undefined) {
    // The transcript showed a compaction that the harness did not announce.
    if (isOwed === true)
      await injectSession(context, context.state, { level: 'full', why: 'compacted unannounced' })
    return context.updateTracking({ isOwed: false })
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
  // Older news were in the context that it got when it joined.
  const joined = conversations.items.findLast(({ text }) => text === conversation)?.id
  const news = reportedSince(context.state, context.tracking.heard ?? joined ?? '')
  const latest = reportedSince(context.state, '').at(-1)?.reported
  if (latest !== undefined) context.updateTracking({ heard: latest })
  // An injected context has them, too.
  if (news.length === 0 || context.response.model !== undefined) return
  // Another hook may have written its state over ours: the journal knows that it was reported.
  const once = `news:${conversation}:${latest}`
  if (context.isRecorded(once)) return
  const { delegateNews } = await import('../context/delegate-news.ts')
  const { text, mark } = delegateNews(session, news)
  context.respond({ model: text })
  const data = { conversation, event, mark, chars: text.length, why: 'delegates reported' }
  context.record('context.given', data, once)
}

/** Nothing has been injected in it yet. */
export function startContextWindow(context: HookContext): void {
  const { given: _given, nudgedAt: _at, sawBoundary: _saw, ...rest } = context.tracking
  const windowNumber = (rest.windowNumber ?? 0) + 1
  context.tracking = { ...rest, nudged: [], edits: 0, windowNumber }
}

/** It was delivered, and nothing is new since. */
export function isDelivered({ given }: ConversationState, essence: string): boolean {
  return given?.isProved === true && given.essence === essence
}

/**
 * A sum over what people and agents wrote. What hooks capture by themselves is left out: a conversation that is
 * resumed knows that from its own history.
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
