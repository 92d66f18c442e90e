import { recordPending } from './pending.ts'
import type { Scene } from './scene.ts'

/** Records that this conversation works on the session, unless that is known. */
export function joinIfNew(scene: Scene, source: string): void {
  const { conversation } = scene.event
  if (scene.session === undefined) return
  recordPending(scene)
  const isKnown = scene.state.conversations.items.some((known) => known.text === conversation)
  if (!isKnown && !scene.drafts.some(({ kind }) => kind === 'conversation.joined'))
    join(scene, source)
}

/** Records that it does, once more: it was begun, or gone on with. */
export function joinAgain(scene: Scene, source: string): void {
  join(scene, source)
  recordPending(scene)
}

function join(scene: Scene, source: string): void {
  const { conversation, transcript } = scene.event
  const at = transcript === undefined ? {} : { transcript }
  scene.record('conversation.joined', { conversation, harness: 'claude', source, ...at })
}
