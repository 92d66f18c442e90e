import type { Scene } from './scene.ts'

/** Records that this conversation works on the session, unless the session knows it. */
export function joinIfNew(scene: Scene, source: string): void {
  const { conversation, transcript } = scene.event
  if (scene.session === undefined || scene.state.conversations.items.some((known) => known.text === conversation)) return
  join(scene, source, conversation, transcript)
}

/** Records that it does, once more: it was begun, or gone on with. */
export function joinAgain(scene: Scene, source: string): void {
  join(scene, source, scene.event.conversation, scene.event.transcript)
}

function join(scene: Scene, source: string, conversation: string, transcript: string | undefined): void {
  const at = transcript === undefined ? {} : { transcript }
  scene.record('conversation.joined', { conversation, harness: 'claude', source, ...at })
}
