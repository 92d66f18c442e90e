import type { Scene } from './scene.ts'

/** Requests made before there was a session belong to the one that they led to. */
export function recordPending(scene: Scene): void {
  const { requests } = scene.tracking
  if (scene.session === undefined || requests.length === 0) return
  for (const { text, isRuling, at } of requests) {
    const data = {
      text,
      conversation: scene.event.conversation,
      ...(isRuling ? { isRuling: true } : {}),
    }
    scene.record('request.made', data, `pending:${scene.event.conversation}:${at}`)
  }
  scene.note({ requests: [] })
}
