import { clip } from '../clip.ts'
import { handOver } from '../cleared.ts'
import { isCopied } from '../../project/conversation/copy/cursor.ts'
import { endConversation } from '../../history/end-conversation.ts'
import { LONGEST_MESSAGE, LONGEST_RESULT } from '../longest.ts'
import type { EventOf } from '../../harness/claude/events.ts'
import type { Answer } from '../answer.ts'
import { glimpse, isTelling } from './glimpse.ts'
import { type Standing, leave, settledOf } from './standing.ts'
import { defined } from '../../text/defined.ts'

/** What was said last is left for the journal; what only the transcript tells is looked up afterwards. */
export function stopQuickly(standing: Standing<EventOf<'stop'>>): Answer | undefined {
  const settled = settledOf(standing)
  const { conversation, lastMessage } = standing.event
  if (settled === undefined || lastMessage === undefined) return undefined
  const said = lastMessage.trim()
  if (said !== '')
    leave(standing, settled.session, 'turn.ended', {
      conversation,
      said: clip(said, LONGEST_MESSAGE, standing.config),
    })
  return {}
}

export function subagentStopQuickly(
  standing: Standing<EventOf<'subagentStop'>>,
): Answer | undefined {
  const settled = settledOf(standing)
  const { agent, type, conversation, lastMessage } = standing.event
  if (settled === undefined || lastMessage === undefined) return undefined
  const { [agent]: task } = settled.tracking.agents
  const result = clip(lastMessage, LONGEST_RESULT, standing.config)
  const data = { agent, type, conversation, result, ...defined({ task }) }
  leave(standing, settled.session, 'agent.finished', data, `agent:${agent}`)
  return {}
}

/** Where everything was looked at and copied before, nothing is left to do but to say why it ended. */
export function sessionEndQuickly(standing: Standing<EventOf<'sessionEnd'>>): Answer | undefined {
  const { event, env, notes } = standing
  const settled = settledOf(standing)
  const seen = settled === undefined ? undefined : glimpse(settled.tracking)
  if (
    settled === undefined ||
    seen === undefined ||
    isTelling(seen) ||
    !isCopied(notes, settled.tracking)
  )
    return undefined
  if (event.reason === 'clear') handOver(notes, env, settled.session)
  leave(standing, settled.session, 'conversation.ended', {
    conversation: event.conversation,
    reason: event.reason,
  })
  endConversation(standing.place.sessions, event.conversation, {
    at: standing.now,
    reason: event.reason,
  })
  return {}
}
