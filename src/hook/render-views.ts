import { readTracking } from '../conversation/tracking.ts'
import { noteTrouble } from '../conversation/troubles.ts'
import { readEvent } from '../harness/claude/events.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import { LiveSession } from '../project/live-session.ts'
import { readConfig } from '../project/read-config.ts'
import { refresh } from '../project/refresh.ts'
import { copyConversation } from './copy-conversation.ts'
import { placeOf } from './place-of.ts'
import { isOurs } from './scene.ts'

const PIECE = 512 * 1024
/** Of all conversations together: a client that does not know `async` waits for it. The rest comes with the next one. */
const PIECES = 8
const COPYING_MS = 1000
const CONVERSATIONS = 5

/**
 * What takes longer than an agent should wait: the document is rendered and the rest of the transcript copied.
 * Run by the harness beside its other work, and ended by it when it ends.
 */
export async function renderViews(input: string, env: NodeJS.ProcessEnv): Promise<void> {
  const event = readEvent(input)
  if (event === undefined || env.STINT_HOOKS === 'off') return
  const place = placeOf(event, env)
  if (!isOurs(place)) return
  const notes = trackingFolderOf(place)
  try {
    const tracking = readTracking(notes, event.conversation)
    if (tracking?.session === undefined) return
    const config = readConfig(place.sessions)
    const session = new LiveSession(tracking.session, place, config)
    const { notices, reading } = await refresh(session)
    session.close()
    for (const message of notices) {
      noteTrouble(notes, { at: new Date().toISOString(), event: event.name, conversation: event.conversation, message })
    }
    // Those before it, too: one that ended at once left no time to be copied.
    const earlier = reading.state.conversations.items
      .slice(-CONVERSATIONS)
      .filter(({ text }) => text !== event.conversation)
      .flatMap(({ text }) => readTracking(notes, text) ?? [])
    const untilMs = process.uptime() * 1000 + COPYING_MS
    let pieces = 0
    for (const followed of [tracking, ...earlier]) {
      let isMore = true
      while (isMore && pieces < PIECES && process.uptime() * 1000 < untilMs) {
        isMore = copyConversation(place, config, followed, PIECE, untilMs)
        pieces += 1
      }
    }
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    noteTrouble(notes, { at: new Date().toISOString(), event: event.name, conversation: event.conversation, message })
  }
}
