import { handOver } from './cleared.ts'
import { clip } from './clip.ts'
import { endConversation } from '../history/end-conversation.ts'
import { copyConversation } from './copy-conversation.ts'
import { recordGitMoves } from './git-moves.ts'
import { LONGEST_MESSAGE, LONGEST_RESULT } from './longest.ts'
import { lookAtTranscript } from './look.ts'
import { writeQuickViews } from './quick-views.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'
import { defined } from '../text/defined.ts'

const PIECE = 64 * 1024

/** The agent has yielded: what it said last, and what it used. */
export async function onStop(scene: Scene<EventOf<'stop'>>): Promise<void> {
  const { looked } = await lookAtTranscript(scene)
  if (scene.session === undefined) return
  const { conversation, lastMessage } = scene.event
  const { usage: latest, fired } = scene.tracking
  // What the transcript has may be from the turn before: it lags behind the event.
  const isOfThisTurn = (looked?.lastAssistantAt ?? '') > (fired.UserPromptSubmit ?? '')
  const said = lastMessage ?? (isOfThisTurn ? looked?.lastText : undefined)
  const { model, ...usage } = latest ?? {}
  if (said !== undefined || latest !== undefined) {
    scene.record('turn.ended', {
      conversation,
      ...(said === undefined || said.trim() === ''
        ? {}
        : { said: clip(said.trim(), LONGEST_MESSAGE, scene.config) }),
      ...defined({ model }),
      ...(latest === undefined ? {} : { usage: usage as typeof latest }),
    })
  }
  recordGitMoves(scene)
}

/** A delegated agent has finished. */
export function onSubagentStop(scene: Scene<EventOf<'subagentStop'>>): void {
  const { agent, type, lastMessage, conversation } = scene.event
  if (scene.session === undefined || lastMessage === undefined) return
  const { [agent]: task, ...others } = scene.tracking.agents
  scene.note({ agents: others })
  scene.record(
    'agent.finished',
    {
      agent,
      type,
      conversation,
      result: clip(lastMessage, LONGEST_RESULT, scene.config),
      ...defined({ task }),
    },
    `agent:${agent}`,
  )
}

/** The conversation is over, for whatever reason. */
export async function onSessionEnd(scene: Scene<EventOf<'sessionEnd'>>): Promise<void> {
  await lookAtTranscript(scene)
  const { session, event } = scene
  if (session === undefined) return
  if (event.reason === 'clear') scene.attempt(() => handOver(scene.notes, scene.env, session.id))
  recordGitMoves(scene)
  scene.record('conversation.ended', { conversation: event.conversation, reason: event.reason })
  save(scene, event.reason)
}

/** Nobody renders or copies after this. */
function save(scene: Scene, reason: string): void {
  const { session } = scene
  if (session === undefined) return
  scene.flush()
  scene.attempt(() => writeQuickViews(session))
  scene.attempt(() => copyConversation(scene.place, scene.config, scene.tracking, PIECE))
  scene.attempt(() =>
    endConversation(scene.place.sessions, scene.tracking.conversation, { at: scene.now, reason }),
  )
}
