import { deliver } from './deliver.ts'
import type { Arrival } from './look.ts'
import type { Scene } from './scene.ts'

/**
 * Gives by this channel what did not arrive by another. Where the client does not write down what hooks give,
 * it is given once more after a compaction: twice is better than not at all.
 */
export async function redeliver(scene: Scene, arrival: Arrival): Promise<void> {
  if (scene.session === undefined) return
  const { given } = scene.tracking
  if (given === undefined) {
    // The transcript showed a compaction that the harness did not announce.
    if (scene.tracking.isOwed === true)
      await deliver(scene, scene.state, { level: 'full', because: 'compacted unannounced' })
    scene.note({ isOwed: false })
    return
  }
  const isUnsure =
    arrival === 'not recorded' &&
    given.event === 'SessionStart' &&
    given.level === 'full' &&
    given.attempts === 1
  if (arrival !== 'missing' && !isUnsure) return
  await deliver(scene, scene.state, {
    level: given.level,
    because: arrival === 'missing' ? 'did not arrive' : 'may not have arrived',
  })
}
