import { textForSummariser } from '../context/summariser.ts'
import { recordGitMoves } from './git-moves.ts'
import { lookAtTranscript } from './look.ts'
import { isPinned } from './pinned.ts'
import { writeQuickViews } from './quick-views.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'

/**
 * The context is about to be thrown away. The state is pinned, and the summariser is told what must not be lost.
 * Nothing is counted here: this comes once, several times or not at all for one compaction, and the transcript tells.
 */
export async function onPreCompact(scene: Scene<EventOf<'preCompact'>>): Promise<void> {
  await lookAtTranscript(scene)
  const { session } = scene
  if (session === undefined) return
  recordGitMoves(scene)
  const counted = scene.drafts.filter(({ kind }) => kind === 'context.compacted').length
  const compaction = scene.state.compactions + counted + 1
  const once = `checkpoint:${scene.event.conversation}:${compaction}:${scene.state.entryCount}`
  if (scene.drafts.length > 0 || !isPinned(scene.state)) {
    const git = scene.place.repository === undefined ? {} : { git: scene.head }
    scene.record(
      'checkpoint.made',
      { note: `before compaction ${compaction}`, preCompact: true, ...git },
      once,
    )
  }
  scene.flush()
  scene.attempt(() => writeQuickViews(session))
  scene.say({ plain: textForSummariser(scene.state, { compaction }) })
}
