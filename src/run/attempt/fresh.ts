import type { Conversations } from './conversations.ts'
import type { RunSession } from './run-session.ts'

/** The session goes on in a fresh conversation that begins with its handoff. */
export async function startFresh(
  session: RunSession,
  conversations: Conversations,
  reason: string,
): Promise<void> {
  const { id } = await session.handOver(reason, conversations.live?.id)
  await conversations.end(session, reason)
  await conversations.forSession(session, { handoff: await session.takeUp(id) })
}
