import { defined } from '../text/defined.ts'
import type { HookContext } from './context.ts'
import type { SessionContext } from './session-context.ts'

/** Records that this conversation works on the session, unless that is known. */
export function joinIfNew(context: SessionContext, source: string): void {
  const { conversation } = context.event
  if (context.session === undefined) return
  recordPendingRequests(context)
  const isKnown = context.state.conversations.items.some((known) => known.text === conversation)
  if (!isKnown && !context.drafts.some(({ kind }) => kind === 'conversation.joined'))
    recordJoined(context, source)
}

/** Records that it does, once more: it began, or was resumed. */
export function join(context: HookContext, source: string): void {
  recordJoined(context, source)
  recordPendingRequests(context)
}

function recordJoined(context: HookContext, source: string): void {
  const { conversation, harness, transcript } = context.event
  const data = { conversation, harness, source, ...defined({ transcript }) }
  context.record('conversation.joined', data)
}

/** Requests made before there was a session belong to the one that they led to. */
function recordPendingRequests(context: HookContext): void {
  const { requests } = context.tracking
  const { conversation } = context.event
  if (requests.length === 0) return
  for (const { text, isRuling, at } of requests) {
    const data = { text, conversation, ...(isRuling ? { isRuling: true } : {}) }
    context.record('request.made', data, `pending:${conversation}:${at}`)
  }
  context.note({ requests: [] })
}
