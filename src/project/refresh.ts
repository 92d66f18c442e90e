import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createFolder } from '../journal/files.ts'
import { checkpointCopies } from '../views/checkpoint-copy.ts'
import { renderProgress } from '../views/progress.ts'
import { renderStateJson, renderStateToon } from '../views/state-files.ts'
import { writeSnapshot } from '../views/snapshot.ts'
import { type Absorbed, refreshDocument, writeView } from './documents.ts'
import type { LiveSession, Reading } from './live-session.ts'

/** Absorbs a person's edits and brings every view of the session up to date. */
export async function refresh(session: LiveSession): Promise<Absorbed & { reading: Reading }> {
  const result = await refreshDocument(session)
  writeViews(session, result.reading)
  return result
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
  writeSnapshot(session.snapshotPath, session.log, contents.end, state)
}
