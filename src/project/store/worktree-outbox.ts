// Entries of an agent that may only write its working tree; the run drains them. Any program may
// have written there, so each entry is checked.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isId, timeOfId } from '../../journal/ids.ts'
import {
  createFile,
  createFolderUnsynced,
  isWriteDenied,
  moveFile,
  removeEmptyFolder,
} from '../../journal/write-files.ts'
import { listFolder } from '../../journal/read-files.ts'
import type { EntryDraft } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { mayWrite } from '../../session/registry.ts'
import { runFromEnv } from './run-environment.ts'
import type { LiveSession } from './live-session.ts'
import { drainFolder, addToOutboxFolder, readDrafts } from './outbox.ts'
import { logPaths } from './project-paths.ts'
import type { Workspace } from './workspace.ts'

export const WORKTREE_OUTBOX = '.stint-outbox'

/** The run's session, when this process can read but not write its log. */
export function unwritableSession(workspace: Workspace): LiveSession | undefined {
  const { env, paths } = workspace
  const { STINT_SESSION: id = '' } = env
  if (runFromEnv(env) === undefined || paths.repository === undefined || !isId(id)) return undefined
  return isWriteDenied(logPaths(paths, id).path) ? workspace.session(id) : undefined
}

export function addToWorktreeOutbox(
  workspace: Workspace,
  session: LiveSession,
  drafts: readonly EntryDraft[],
): readonly RawEntry[] {
  const root = join(workspace.paths.repository!.worktree, WORKTREE_OUTBOX)
  const { drafts: cleaned, redacted } = session.clean(drafts)
  if (redacted.length > 0)
    workspace.say(`what looked like a secret was redacted (${redacted.join(', ')})`)
  createFolderUnsynced(root)
  // Hidden from git, whatever the project ignores.
  createFile(join(root, '.gitignore'), '*\n')
  workspace.say(
    'this journal cannot be written from here; it is left for the run, which takes it in',
  )
  const at = new Date().toISOString()
  return cleaned.map((draft) => {
    const entry = { id: session.mint(), at, ...draft }
    addToOutboxFolder(join(root, session.id), entry)
    return entry as RawEntry
  })
}

export function readWorktreeOutbox(
  { paths }: Workspace,
  session: LiveSession,
): readonly RawEntry[] {
  const folder = join(paths.repository!.worktree, WORKTREE_OUTBOX, session.id)
  return readDrafts(folder, (draft) => draft).map(({ draft }) => {
    session.log.sawId(draft.id)
    return draft as RawEntry
  })
}

export function drainWorktreeOutbox(
  session: LiveSession,
  tree: string,
): { readonly taken: number; readonly refused: number } {
  const folder = join(tree, WORKTREE_OUTBOX, session.id)
  if (!isFolder(join(tree, WORKTREE_OUTBOX)) || !isFolder(folder)) return { taken: 0, refused: 0 }
  const names = listFolder(folder).filter((name) => !name.endsWith(DAMAGED_SUFFIX))
  if (names.length === 0) return { taken: 0, refused: 0 }
  for (const name of names.filter((one) => !isSmallFile(join(folder, one)))) {
    moveFile(join(folder, name), join(folder, `${name}${DAMAGED_SUFFIX}`))
  }
  const known = new Map(session.read().entries.map((entry) => [entry.id, entry]))
  const taken = drainFolder(folder, session, (draft, once) => acceptDraft(draft, once, known))
  removeEmptyFolder(folder)
  return { taken, refused: names.length - taken }
}

const DAMAGED_SUFFIX = '.damaged'
const MAX_BYTES = 256 * 1024
/** Tolerance between two clocks. */
const CLOCK_TOLERANCE_MS = 60_000

function acceptDraft(draft: EntryDraft, once: string, known: ReadonlyMap<string, RawEntry>) {
  const { id = '', at = '', kind, by } = draft
  const data: Readonly<Record<string, unknown>> = { ...draft.data }
  if (!mayWrite('agent', kind) || !['cli', 'library', 'mcp'].includes(by) || !isFlat(data))
    return undefined
  // Another key could suppress an entry of the run.
  if (draft.once !== once) return undefined
  // A future id would outrank all others, unless one before it does; a used one would replace its entry.
  const now = Date.now()
  const newest = [...known.keys()].reduce((max, other) => (other > max ? other : max), '')
  const latest = Math.max(now, Date.parse(timeOfId(newest) ?? '') || 0)
  const isWithin = (time: string | undefined, until: number) =>
    Date.parse(time ?? '') <= until + CLOCK_TOLERANCE_MS
  const isLate = !isWithin(timeOfId(id), latest) || !isWithin(at, now)
  const same = known.get(id)
  if (isLate || (same !== undefined && same.once !== once)) return undefined
  const changed = known.get(String(data['entry']))?.kind ?? ''
  if (kind.startsWith('entry.') && !mayWrite('agent', changed)) return undefined
  return { id, at, kind, by, once, data } as unknown as EntryDraft
}

function isFlat({ changes = '', ...data }: Readonly<Record<string, unknown>>) {
  const values =
    typeof changes === 'object' && changes !== null ? Object.values(changes) : [changes]
  return [...values, ...Object.values(data)].every(isScalar)
}

function isScalar(value: unknown) {
  return ['string', 'boolean', 'number'].includes(typeof value)
}

function isFolder(path: string) {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** A link may lead to foreign files; a pipe may never end. */
function isSmallFile(path: string) {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= MAX_BYTES
}
