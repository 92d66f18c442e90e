import { join } from 'node:path'
import { replaceUnsynced } from '../journal/files.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { renderProgress } from '../document/progress.ts'
import { writeSnapshot } from '../document/snapshot.ts'

/**
 * Saves what can be saved without reading the whole journal: the state as far as it is open or recent, and
 * `progress.md`. The document follows when somebody has the time: another hook that nobody waits for, or the next command.
 */
export function writeQuickViews(session: LiveSession): void {
  const { state, end } = session.openTo()
  replaceUnsynced(join(session.folder, 'progress.md'), renderProgress(state))
  writeOpenSession(session.place, state)
  writeSnapshot(session.snapshotPath, session.log, end, state)
}
