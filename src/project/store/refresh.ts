import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { handoffFolder, restoreFiles } from '../../context/handoff/files.ts'
import { handoffsIn } from '../../context/handoff/recorded.ts'
import { createFolder } from '../../journal/files.ts'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { renderProgress } from '../../document/progress.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { writeSnapshot } from '../../document/snapshot.ts'
import { type Absorbed, refreshDocument, writeView } from './documents.ts'
import type { LiveSession, Reading } from './live-session.ts'
import { writeOpenSession } from './open-sessions.ts'

const ROUNDS = 20

/**
 * Absorbs a person's edits and brings every view of the session up to date. A view may be written
 * over one that another process wrote later than we read, so whoever finds the log longer than it
 * was goes again: the last to write has seen the last entry.
 */
export async function refresh(session: LiveSession): Promise<Absorbed & { reading: Reading }> {
  const notices: string[] = []
  let entries = 0
  for (let round = 1; ; round += 1) {
    const { reading, ...absorbed } = await refreshDocument(session)
    notices.push(...absorbed.notices)
    entries += absorbed.entries
    writeViews(session, reading)
    if (session.log.identity().size === reading.contents.bytes.length || round === ROUNDS)
      return { entries, notices, reading }
  }
}

function writeViews(session: LiveSession, reading: Reading): void {
  const { state, entries, contents } = reading
  writeView(join(session.folder, 'progress.md'), renderProgress(state))
  writeView(join(session.folder, 'state.json'), renderStateJson(state))
  writeView(join(session.folder, 'state.toon'), renderStateToon(state))
  const copies = join(session.folder, 'entries')
  for (const [name, text] of checkpointCopies(session.id, entries)) {
    const path = join(copies, name)
    if (existsSync(path)) continue
    createFolder(copies)
    writeView(path, text())
  }
  if (state.handoffs.items.length > 0)
    restoreFiles(handoffFolder(session.folder), handoffsIn(entries))
  writeOpenSession(session.place, state)
  writeSnapshot(session.snapshotPath, session.log, contents.end, state)
}
