// Reminders that the journal is there. Advisory, at most one at a time, each once in a window and never two
// within ten minutes: an agent that is nagged stops listening.
import type { Tracking } from '../project/conversation/tracking.ts'
import type { Nudge } from '../project/config/config.ts'
import type { Scene } from './scene.ts'
import { UNLOGGED_EDITS } from './unlogged-edits.ts'

const APART_MS = 10 * 60_000

export function nudgeAtEdit(scene: Scene): void {
  const edits = scene.tracking.edits + 1
  scene.note({ edits })
  if (edits < UNLOGGED_EDITS) return
  nudge(scene, 'edits', {
    model: `Stint: ${edits} edits since the journal was last written to. What was done, decided or found is kept by \`stint log --progress TEXT\`, \`--decision TEXT --rationale TEXT\`, \`--discovery TEXT\`.`,
  })
}

/** The first may be the last; the second time it has a way out. */
export function nudgeAtLargeOutput(scene: Scene): void {
  const largeOutputs = (scene.tracking.largeOutputs ?? 0) + 1
  scene.note({ largeOutputs })
  if (largeOutputs < 2) return
  nudge(scene, 'output', {
    model:
      'Stint: outputs as long as this fill the context. `stint digest -- COMMAND` runs a command, prints what matters of it, and keeps the rest to be looked up.',
  })
}

export function nudge(scene: Scene, kind: Nudge, text: { model: string; person?: string }): void {
  const { nudged } = scene.tracking
  // With a context in the same answer it could be more than is ever to be given.
  if (!scene.config.nudges.has(kind) || nudged.includes(kind) || scene.answer.model !== undefined)
    return
  if (isTooSoon(scene.tracking, scene.now)) return
  scene.note({ nudged: [...nudged, kind], nudgedAt: scene.now })
  scene.say(text)
}

export function isTooSoon({ nudgedAt }: Pick<Tracking, 'nudgedAt'>, now: string): boolean {
  return nudgedAt !== undefined && Date.parse(now) - Date.parse(nudgedAt) < APART_MS
}
