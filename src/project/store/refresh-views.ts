import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createFolderUnsynced } from '../../journal/write-files.ts'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { renderProgress } from '../../document/progress-file.ts'
import { renderStateJson, renderStateToon } from '../../document/state-files.ts'
import { writeSnapshot } from '../../document/snapshot.ts'
import {
  type Absorbed,
  type RefreshedDocument,
  refreshDocument,
  writeView,
} from './refresh-document.ts'
import type { LiveSession, SessionReading } from './live-session.ts'
import { writeOpenSession } from './open-sessions.ts'

const MAX_ROUNDS = 20

/** Repeats while the log grows, so that the last writer of a view has seen the last entry. */
export async function refreshViews(
  session: LiveSession,
  { isDurable = false } = {},
): Promise<Absorbed & { reading: SessionReading }> {
  const notices: string[] = []
  let entries = 0
  for (let round = 1; ; round += 1) {
    const refreshed = await refreshDocument(session, { isDurable })
    notices.push(...refreshed.notices)
    entries += refreshed.entries
    const { reading } = refreshed
    if (reading.state.handoffs.items.length > 0) await restoreHandoffs(session, reading)
    writeViews(session, refreshed, isDurable)
    if (session.log.identity().size === reading.contents.bytes.length || round === MAX_ROUNDS)
      return { entries, notices, reading }
  }
}

async function restoreHandoffs(session: LiveSession, { entries }: SessionReading) {
  const { handoffFolder, restoreFiles } = await import('../../context/handoff/handoff-files.ts')
  const { recordedHandoffs } = await import('../../context/handoff/recorded-handoffs.ts')
  restoreFiles(handoffFolder(session.folder), recordedHandoffs(entries))
}

function writeViews(
  session: LiveSession,
  { reading, document }: RefreshedDocument,
  isDurable: boolean,
) {
  const { state, contents } = reading
  const write = (name: string, text: string) =>
    writeView(join(session.folder, name), text, { isDurable })
  write('progress.md', renderProgress(state))
  write('state.json', renderStateJson(state))
  write('state.toon', renderStateToon(state))
  if (contents.bytes.includes('"checkpoint.made"')) writeCheckpointCopies(session, reading, write)
  writeOpenSession(session.paths, state)
  writeSnapshot(session.snapshotPath, session.log, contents.end, state, { document, isDurable })
  session.cacheState(reading)
}

function writeCheckpointCopies(
  session: LiveSession,
  { entries }: SessionReading,
  write: (name: string, text: string) => void,
) {
  const copies = join(session.folder, 'entries')
  for (const [name, text] of checkpointCopies(session.id, entries)) {
    if (existsSync(join(copies, name))) continue
    createFolderUnsynced(copies)
    write(join('entries', name), text())
  }
}
