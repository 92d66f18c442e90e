// One small file per open session, so that a hook finds its branch's session without the index.
import { join } from 'node:path'
import type { Head } from '../../git/head.ts'
import { listFolderIfPresent, readJson, statOrUndefined } from '../../journal/read-files.ts'
import { isId } from '../../journal/ids.ts'
import type { SessionStatus } from '../../session/state.ts'
import type { ProjectPaths } from './project-paths.ts'

export interface OpenSession {
  readonly id: string
  readonly name: string
  readonly status: SessionStatus
  readonly branch?: string
  readonly worktree?: string
  readonly updatedAt: string
  /** The latest entry about a delegate's end; a conversation that missed it is notified. */
  readonly news?: string
}

const MAX_LISTED = 500
const MAX_BYTES = 16 * 1024

export function openSessionsFolder(paths: ProjectPaths): string {
  return join(paths.sessions, 'open')
}

/** Undefined when the folder is gone. */
export function listOpenSessions(paths: ProjectPaths): readonly OpenSession[] | undefined {
  return listFolderIfPresent(openSessionsFolder(paths))
    ?.filter(isId)
    .slice(-MAX_LISTED)
    .flatMap((name) => readOpenSession(paths, name) ?? [])
}

export function readOpenSession(paths: ProjectPaths, id: string): OpenSession | undefined {
  const open = readJson(join(openSessionsFolder(paths), id), MAX_BYTES) as OpenSession | undefined
  return open?.id === id ? open : undefined
}

export function belongsHere(
  { branch, worktree }: Pick<OpenSession, 'branch' | 'worktree'>,
  { repository }: ProjectPaths,
  head: Head,
): boolean {
  if (repository === undefined) return true
  const here = repository.isLinked ? repository.worktree : undefined
  if (worktree === here) return worktree !== undefined || branch === head.branch
  // A session whose worktree is gone belongs to its branch again.
  return (
    branch === head.branch && (worktree === undefined || statOrUndefined(worktree) === undefined)
  )
}
