// Code saved by checkpoints and failed attempts is in commits of the user's repository, and is
// dropped only on request.
import type { Repository } from '../../git/repository.ts'
import { GitFailed, runGit, writeGit } from '../../git/run-git.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import type { PurgeMatcher } from './purge-matcher.ts'

export interface SavedCodeMatch {
  readonly ref: string
  readonly commit: string
  readonly session?: string
  readonly checkpoint?: string
  readonly run?: string
  readonly attempt?: string
  /** Empty when only a message holds it. */
  readonly files: readonly string[]
  /** A branch or tag contains the commit too. */
  readonly isInHistory: boolean
}

/** Bounded by the length of a command line. */
const COMMITS_PER_GREP = 500
const REFS = 'refs/stint/'
const RUN_REFS = `${REFS}runs/`

interface SavedCode {
  readonly ref: string
  readonly commit: string
  /** Commits on no branch or tag. */
  readonly commits: readonly string[]
  readonly messages: readonly string[]
}

export function findSavedCode(
  repository: Repository,
  needle: PurgeMatcher,
): readonly SavedCodeMatch[] {
  const saved = listSavedCode(repository)
  const files = new Map<string, string[]>()
  const commits = [...new Set(saved.flatMap((code) => code.commits))]
  for (let start = 0; start < commits.length; start += COMMITS_PER_GREP) {
    for (const found of grep(repository, needle, commits.slice(start, start + COMMITS_PER_GREP))) {
      const colon = found.indexOf(':')
      const commit = found.slice(0, colon)
      files.set(commit, [...(files.get(commit) ?? []), found.slice(colon + 1)])
    }
  }
  return saved.flatMap((code) => {
    const { ref, commit } = code
    const matching = [...new Set(code.commits.flatMap((one) => files.get(one) ?? []))]
    if (
      matching.length === 0 &&
      !code.messages.some((message) => needle.isIn(Buffer.from(message)))
    )
      return []
    return [
      {
        ref,
        commit,
        ...ownerOf(ref),
        files: matching,
        isInHistory: isOnBranchOrTag(repository, commit),
      },
    ]
  })
}

/** The objects stay until git collects garbage. */
export function dropSavedCode(repository: Repository, saved: readonly SavedCodeMatch[]): void {
  for (const { ref, commit } of saved)
    writeGit(repository.worktree, [...SAFE_CONFIG, 'update-ref', '--no-deref', '-d', ref, commit])
}

function ownerOf(ref: string) {
  if (ref.startsWith(RUN_REFS)) {
    const [run = '', attempt = ''] = ref.slice(RUN_REFS.length).split('/')
    return { run, attempt }
  }
  const [session = '', checkpoint = ''] = ref.slice(REFS.length).split('/')
  return { session, checkpoint }
}

function listSavedCode(repository: Repository) {
  const own = ownCommits(repository)
  const format = '%(objecttype)%00%(objectname)%00%(refname)%00%(contents)%00'
  const fields = runGit(repository.worktree, ['for-each-ref', `--format=${format}`, REFS]).split(
    '\0',
  )
  const saved: SavedCode[] = []
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [type = '', commit = '', ref = '', message = ''] = fields.slice(at, at + 4)
    // The newline of a line comes after its NUL, so it leads the next field.
    if (type.trim() !== 'commit') continue
    const commits = new Set([commit])
    // Iterating a set also visits what is added meanwhile.
    for (const one of commits)
      for (const parent of own.get(one)?.parents ?? []) if (own.has(parent)) commits.add(parent)
    saved.push({
      ref,
      commit,
      commits: [...commits],
      messages: [message, ...[...commits].flatMap((one) => own.get(one)?.message ?? [])],
    })
  }
  return saved
}

/** Includes commits of failed attempts and of branches that were reset. */
function ownCommits({ worktree }: Repository) {
  const which = [`--glob=${REFS}*`, '--not', '--branches', '--tags', '--remotes']
  const fields = runGit(worktree, [
    'log',
    '--no-show-signature',
    '--format=%H%x00%P%x00%B%x00',
    ...which,
  ]).split('\0')
  const own = new Map<string, { readonly parents: readonly string[]; readonly message: string }>()
  for (let at = 0; at + 3 < fields.length; at += 3) {
    const [commit = '', parents = '', message = ''] = fields.slice(at, at + 3)
    own.set(commit.trim(), { parents: parents.split(' '), message })
  }
  return own
}

/** `commit:path` of files that hold every line of the text. */
function grep(repository: Repository, needle: PurgeMatcher, commits: readonly string[]) {
  const flags = [
    '-l',
    '-z',
    '-a',
    '-F',
    '--full-name',
    '--no-color',
    ...(needle.lines.length > 1 ? ['--all-match'] : []),
  ]
  try {
    // By standard input: the process list shows command lines to everyone.
    const found = runGit(repository.worktree, ['grep', ...flags, '-f', '-', ...commits], {
      input: `${needle.lines.join('\n')}\n`,
    })
    return found.split('\0').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return []
    throw error
  }
}

function isOnBranchOrTag(repository: Repository, commit: string) {
  const refs = ['refs/heads', 'refs/tags', 'refs/remotes']
  return (
    runGit(repository.worktree, [
      'for-each-ref',
      '--count=1',
      `--contains=${commit}`,
      ...refs,
    ]).trim() !== ''
  )
}
