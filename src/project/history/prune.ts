import { listBlobs, namesOf, saidNamesOf } from '../../history/blob-files.ts'
import { whileLocked } from '../../history/lock.ts'
import type { StoredConversation } from '../../history/store.ts'
import { StintError } from '../../journal/errors.ts'
import { removeFile } from '../../journal/files.ts'
import { statOrUndefined } from '../../journal/look.ts'
import type { Workspace } from '../store/workspace.ts'
import { findConversation } from './rows.ts'
import { storeOf } from './store.ts'

export interface PruneOptions {
  /** Conversations last written before it. */
  readonly before?: string
  /** By id or its beginning. */
  readonly conversations?: readonly string[]
  /** Only long tool outputs and pictures; of all conversations when none is named. */
  readonly outputs?: boolean
  readonly dryRun?: boolean
}

export interface Pruned {
  readonly isDryRun: boolean
  readonly conversations: readonly { readonly id: string; readonly bytes: number }[]
  readonly blobs: { readonly count: number; readonly bytes: number }
  /** Unreferenced, but too young to remove. */
  readonly young: number
  /** Being written to, so left alone. */
  readonly busy: readonly string[]
  readonly left: {
    readonly conversations: number
    readonly bytes: number
    readonly blobs: number
    readonly blobBytes: number
  }
}

/** A writer stores a blob before the line that names it. */
const STILL_YOUNG_MS = 10 * 60_000

export async function pruneHistory(workspace: Workspace, options: PruneOptions): Promise<Pruned> {
  const isDryRun = options.dryRun === true
  const stored = storeOf(workspace).list()
  const chosen = await choose(workspace, stored, options)
  const isOutputs = options.outputs === true
  const busy = isDryRun || isOutputs ? [] : chosen.filter(({ path }) => !removeUnlocked(path))
  const gone = new Set(
    (isOutputs ? [] : chosen.filter((one) => !busy.includes(one))).map(({ id }) => id),
  )
  // Read after removal, so that new references count.
  const left = stored.filter(({ id }) => !gone.has(id))
  const withoutOutputs = new Set(isOutputs ? chosen : [])
  const named = new Set(
    left.flatMap((one) => [...(withoutOutputs.has(one) ? saidNamesOf : namesOf)(one.path)]),
  )
  const blobs = listBlobs(workspace.place.sessions)
  const unnamed = blobs.filter(({ hash }) => !named.has(hash))
  const old = unnamed.filter(({ path }) => isOld(path))
  const freed = old.filter(({ path }) => isDryRun || removeFile(path))
  return {
    isDryRun,
    conversations: chosen.filter(({ id }) => gone.has(id)).map(({ id, bytes }) => ({ id, bytes })),
    blobs: { count: freed.length, bytes: sum(freed) },
    young: unnamed.length - old.length,
    busy: busy.map(({ id }) => id),
    left: {
      conversations: left.length,
      bytes: sum(left),
      blobs: blobs.length - freed.length,
      blobBytes: sum(blobs) - sum(freed),
    },
  }
}

async function choose(
  workspace: Workspace,
  stored: readonly StoredConversation[],
  { before, conversations, outputs }: PruneOptions,
): Promise<readonly StoredConversation[]> {
  if (before === undefined && conversations === undefined) return outputs === true ? stored : []
  const ids = await Promise.all((conversations ?? []).map((name) => findNamed(workspace, name)))
  const isNamed = (id: string) => conversations === undefined || ids.includes(id)
  return stored.filter(
    ({ id, writtenAt }) => isNamed(id) && (before === undefined || writtenAt < before),
  )
}

/** A session's name would mean whichever conversation is its latest. */
async function findNamed(workspace: Workspace, name: string): Promise<string> {
  const id = await findConversation(workspace, name)
  if (id.startsWith(name)) return id
  throw new StintError(
    'NO_CONVERSATION',
    `"${name}" is no conversation`,
    'stint history --all lists those that are stored',
  )
}

function removeUnlocked(path: string): boolean {
  return whileLocked(path, () => ({ isRemoved: removeFile(path) })) !== undefined
}

function isOld(path: string): boolean {
  const stat = statOrUndefined(path)
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > STILL_YOUNG_MS
}

function sum(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}
