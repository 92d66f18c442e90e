// The code that checkpoints keep is in commits of the user's repository. It is looked at always, and
// let go of only when asked for.
import type { Repository } from '../../git/repository.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Needle } from './needle.ts'

/** A checkpoint whose kept code, or the message with it, holds the text. */
export interface HoldingCode {
  readonly ref: string
  readonly commit: string
  readonly session: string
  readonly checkpoint: string
  /** Files that hold it; none when it is only in the message. */
  readonly files: readonly string[]
  /** A branch or tag leads to this commit too, so that letting go of the checkpoint changes nothing about it. */
  readonly isInHistory: boolean
}

/** A command line takes only so much. */
const COMMITS_AT_ONCE = 500

export function findKeptCode(repository: Repository, needle: Needle): readonly HoldingCode[] {
  const kept = keptCommits(repository)
  const files = new Map<string, string[]>()
  const commits = [...new Set(kept.map(({ commit }) => commit))]
  for (let start = 0; start < commits.length; start += COMMITS_AT_ONCE) {
    for (const found of grep(repository, needle, commits.slice(start, start + COMMITS_AT_ONCE))) {
      const colon = found.indexOf(':')
      const commit = found.slice(0, colon)
      files.set(commit, [...(files.get(commit) ?? []), found.slice(colon + 1)])
    }
  }
  return kept
    .filter(({ commit, message }) => files.has(commit) || needle.isIn(Buffer.from(message)))
    .map(({ ref, commit }) => {
      const [session = '', checkpoint = ''] = ref.split('/').slice(2)
      const isInHistory = isLedTo(repository, commit)
      return { ref, commit, session, checkpoint, files: files.get(commit) ?? [], isInHistory }
    })
}

/** Deletes the references. Their objects stay until git collects them. */
export function dropKeptCode(repository: Repository, kept: readonly HoldingCode[]): void {
  for (const { ref, commit } of kept) runGit(repository.worktree, [...QUIETLY, 'update-ref', '--no-deref', '-d', ref, commit])
}

function keptCommits(repository: Repository) {
  const format = '%(objecttype)%00%(objectname)%00%(refname)%00%(contents)%00'
  const fields = runGit(repository.worktree, ['for-each-ref', `--format=${format}`, 'refs/stint/']).split('\0')
  const kept: { commit: string; ref: string; message: string }[] = []
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [type = '', commit = '', ref = '', message = ''] = fields.slice(at, at + 4)
    // Each line ends behind the NUL, so that its newline comes first in the next.
    if (type.trim() === 'commit') kept.push({ commit, ref, message })
  }
  return kept
}

/** `commit:path` for each file that holds every line of the text. */
function grep(repository: Repository, needle: Needle, commits: readonly string[]): readonly string[] {
  const how = ['-l', '-z', '-a', '-F', '--full-name', '--no-color', ...(needle.lines.length > 1 ? ['--all-match'] : [])]
  try {
    // Over standard input: a list of processes shows everybody what is on a command line.
    const found = runGit(repository.worktree, ['grep', ...how, '-f', '-', ...commits], { input: `${needle.lines.join('\n')}\n` })
    return found.split('\0').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return []
    throw error
  }
}

function isLedTo(repository: Repository, commit: string): boolean {
  const refs = ['refs/heads', 'refs/tags', 'refs/remotes']
  return runGit(repository.worktree, ['for-each-ref', '--count=1', `--contains=${commit}`, ...refs]).trim() !== ''
}
