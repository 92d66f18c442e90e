import { onceOfCosts, takeCosts } from '../project/conversation/costs.ts'
import { removeFile } from '../journal/files.ts'
import type { Scene } from './scene.ts'

/** A conversation that ended left the lines of its last hooks. */
const CONVERSATIONS = 5

/**
 * Journals what the hooks of a session cost since that was last done. Killed in between it is journalled again, and counts once
 * by the name under which the lines were moved aside.
 */
export function takeInCosts(scene: Scene): void {
  const { conversation } = scene.event
  scene.attempt(() => {
    const earlier = scene.state.conversations.items.slice(-CONVERSATIONS).map(({ text }) => text)
    const taken = takeCosts(scene.notes, [...new Set([...earlier, conversation])])
    const worthIt = taken.filter(
      ({ costs }) => costs.writes > 0 || Object.keys(costs.events).length > 0,
    )
    for (const { name, costs } of worthIt) scene.record('hooks.ran', costs, onceOfCosts(name))
    if (scene.flush()) for (const { path } of taken) removeFile(path)
  })
}
