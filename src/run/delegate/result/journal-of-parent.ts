import { isId } from '../../../journal/ids.ts'
import type { LiveSession } from '../../../project/store/live-session.ts'
import type { Workspace } from '../../../project/store/workspace.ts'
import type { Draft } from '../../../session/entries.ts'

/** The journal of a session, held as long as it is needed; undefined when there is none any more. */
export async function withJournal<T>(
  workspace: Workspace,
  id: string | undefined,
  use: (session: LiveSession) => Promise<T>,
): Promise<T | undefined> {
  // A log may come from elsewhere, and no name in it is to lead out of a folder.
  if (id === undefined || !isId(id)) return undefined
  const session = workspace.session(id)
  try {
    return session.log.exists() ? await use(session) : undefined
  } finally {
    session.close()
  }
}

/**
 * Appends what the journal does not have yet, in one write, and brings its views up to date. A session that is closed meanwhile stays so:
 * its journal says what came of its delegates, as it says who took up its handoff.
 */
export async function appendOnce(
  workspace: Workspace,
  session: LiveSession,
  drafts: readonly Draft[],
): Promise<void> {
  const known = new Set(session.read().entries.map(({ once }) => once))
  const missing = drafts.filter(({ once }) => once === undefined || !known.has(once))
  session.append(missing)
  await workspace.refreshIfPossible(session)
}
