import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { JournalMissing, StintError } from '../../journal/errors.ts'
import { moveFile, removeFile } from '../../journal/files.ts'
import { shortId } from '../../journal/ids.ts'
import { checkpointCopies } from '../../document/checkpoint-copy.ts'
import { writeView } from '../store/documents.ts'
import type { LiveSession } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import type { Needle } from './needle.ts'
import { holds, readTextOr } from './other-files.ts'

const ROUNDS = 5
const VIEWS = ['progress.md', 'state.json', 'state.toon', 'snapshot.json']

export function viewsOf(session: LiveSession): readonly string[] {
  const inFolder = VIEWS.map((name) => join(session.folder, name)).filter((path) =>
    existsSync(path),
  )
  return [...inFolder, ...namesIn(join(session.folder, 'entries'))]
}

/**
 * Absorbs edits and removes the document: against the rewritten log its lines would look like
 * edits and bring the text back. False when the session is unreadable.
 */
export async function withdrawDocument(
  workspace: Workspace,
  session: LiveSession,
): Promise<boolean> {
  for (let round = 0, isEdited = true; isEdited && round < ROUNDS; round += 1) {
    let wanted: string
    try {
      const reading = await workspace.refresh(session)
      wanted = session.document(reading)
    } catch (error) {
      if (
        error instanceof JournalMissing ||
        (error instanceof StintError && error.code === 'SESSION_EMPTY')
      )
        return false
      throw error
    }
    isEdited = false
    for (const document of documentsOf(session)) {
      // Named like a document that a killed command had taken, so that it is read again.
      const taken = join(
        session.folder,
        `taken-${randomBytes(6).toString('hex')}-${basename(document)}`,
      )
      moveFile(document, taken)
      if (readTextOr(taken, wanted) === wanted) removeFile(taken)
      else isEdited = true
    }
  }
  return true
}

/** Returns the rendered files. */
export async function renderAnew(
  workspace: Workspace,
  session: LiveSession,
  needle: Needle,
): Promise<readonly string[]> {
  const { state, entries } = await workspace.refresh(session, { isDurable: true })
  // Precomputed for hooks; the next event makes it again.
  removeFile(join(session.folder, 'prepared.json'))
  const copies: string[] = []
  for (const [name, text] of checkpointCopies(session.id, entries)) {
    const path = join(session.folder, 'entries', name)
    if (holds(path, needle)) writeView(path, text(), { isDurable: true })
    copies.push(path)
  }
  return [
    ...VIEWS.map((name) => join(session.folder, name)),
    ...copies,
    session.documentPath(state),
  ]
}

function documentsOf(session: LiveSession): readonly string[] {
  const suffix = `-${shortId(session.id)}.md`
  const folders = ['active', 'archive'].map((name) => join(session.place.sessions, name))
  return folders.flatMap(namesIn).filter((path) => path.endsWith(suffix))
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}
