import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { readTextOrUndefined } from '../journal/read-files.ts'
import type { Repository } from './repository.ts'
import { defined } from '../text/defined.ts'
import { type GitOptions, runGit, unlessGitFails } from './run-git.ts'

export interface Head {
  readonly branch?: string
  readonly commit?: string
}

const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const BRANCH_PREFIX = 'refs/heads/'

/** Reads git's own files; starts git only where these are not enough. */
export function readHead(repository: Repository, timeoutMs?: number): Head {
  return headInFiles(repository) ?? readHeadWithGit(repository, defined({ timeoutMs }))
}

export function headInFiles({ gitDir, commonDir }: Repository): Head | undefined {
  const path = join(gitDir, 'HEAD')
  // An old repository may have a link in place of a symbolic reference; reading through it would look detached.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== false) return undefined
  const head = readText(path)?.trim() ?? ''
  if (OBJECT_NAME.test(head)) return { commit: head }
  const ref = head.startsWith('ref: ') ? head.slice('ref: '.length).trim() : ''
  if (!ref.startsWith(BRANCH_PREFIX)) return undefined
  const found = refInFiles(commonDir, ref)
  return found === undefined ? undefined : { branch: ref.slice(BRANCH_PREFIX.length), ...found }
}

export function commitOfRef(repository: Repository, ref: string): string | undefined {
  const { commonDir } = repository
  const found = existsSync(join(commonDir, 'reftable')) ? undefined : refInFiles(commonDir, ref)
  if (found !== undefined) return found.commit
  // Git takes the name for a pattern, and for a folder of names as well.
  return runGit(repository, ['for-each-ref', '--format=%(objectname) %(refname)', ref])
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0]
}

function refInFiles(commonDir: string, ref: string) {
  if (!isPlainRef(ref)) return undefined
  const loose = readText(join(commonDir, ref))?.trim()
  if (loose !== undefined) return OBJECT_NAME.test(loose) ? { commit: loose } : undefined
  // git packs before it removes the loose file, so this order never misses a reference.
  const packed = packedCommit(readText(join(commonDir, 'packed-refs')) ?? '', ref)
  return packed === undefined ? {} : { commit: packed }
}

// A reftable repository names `refs/heads/.invalid` here.
function isPlainRef(ref: string) {
  return ref.split('/').every((part) => part !== '' && !part.startsWith('.'))
}

function packedCommit(packed: string, ref: string) {
  const end = packed.indexOf(` ${ref}\n`)
  if (end < 0) return undefined
  const name = packed.slice(packed.lastIndexOf('\n', end) + 1, end)
  return OBJECT_NAME.test(name) ? name : undefined
}

function readHeadWithGit(repository: Repository, options: GitOptions) {
  const ask = (...args: readonly string[]) =>
    unlessGitFails(() => runGit(repository.worktree, args, options).trim() || undefined)
  const branch = ask('symbolic-ref', '--quiet', '--short', 'HEAD')
  const commit = ask('rev-parse', '--quiet', '--verify', 'HEAD^{commit}')
  return defined({ branch, commit })
}

// The path may be a folder of branches while the branch itself is packed.
function readText(path: string) {
  return readTextOrUndefined(path)
}
