import type { EventOf } from '../../harness/claude/events.ts'
import { kindsInOutbox } from '../../project/store/outbox.ts'
import type { Answer } from '../answer.ts'
import { isUpToDate, readPrepared } from '../prepared.ts'
import { glimpse, isTelling } from './glimpse.ts'
import { type Standing, headOf, leave, settledOf } from './standing.ts'

/** The summariser is told what was made ready for it, and the checkpoint is left for the journal. */
export function preCompactQuickly(standing: Standing<EventOf<'preCompact'>>): Answer | undefined {
  const { place, event } = standing
  const settled = settledOf(standing)
  const seen = settled === undefined ? undefined : glimpse(settled.tracking)
  if (settled === undefined || seen === undefined || isTelling(seen)) return undefined
  const prepared = readPrepared(place, settled.session)
  if (prepared === undefined || !isUpToDate(prepared, place, settled.session)) return undefined
  if (kindsInOutbox(place, settled.session).length > 0) return undefined
  const { text, compaction } = prepared.summariser
  if (!prepared.isPinned) {
    const once = `checkpoint:${event.conversation}:${compaction}:${prepared.entryCount}`
    const data = {
      note: `before compaction ${compaction}`,
      preCompact: true,
      git: headOf(standing),
    }
    leave(standing, settled.session, 'checkpoint.made', data, once)
  }
  return { plain: text }
}
