import { existsSync } from 'node:fs'
import { StintError } from '../journal/errors.ts'
import { join } from 'node:path'
import { removeFile } from '../journal/write-files.ts'
import { defined } from '../text/defined.ts'
import type { Repository } from './repository.ts'

export class GitFailed extends StintError {
  override readonly name = 'GitFailed'
  constructor(
    readonly args: readonly string[],
    readonly status: number | undefined,
    readonly stderr: string,
    reason: string,
    options: ErrorOptions & { hint?: string } = {},
  ) {
    super('GIT_FAILED', `git ${subcommandOf(args)} failed: ${reason}`, options.hint, options)
  }
}

export interface GitOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** `latin1` keeps the bytes of names that are not UTF-8. */
  readonly encoding?: 'utf8' | 'latin1'
  readonly timeoutMs?: number
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 5 * 60_000

// A hook or editor may have pointed git at another repository or index. GIT_CONFIG_COUNT stays: containers use it for safe.directory.
const CLEARED_VARIABLES = (
  'DIR WORK_TREE IMPLICIT_WORK_TREE INDEX_FILE INDEX_VERSION COMMON_DIR OBJECT_DIRECTORY ' +
  'ALTERNATE_OBJECT_DIRECTORIES QUARANTINE_PATH NAMESPACE PREFIX CONFIG CONFIG_PARAMETERS GRAFT_FILE ' +
  'SHALLOW_FILE NO_REPLACE_OBJECTS REPLACE_REF_BASE CEILING_DIRECTORIES LITERAL_PATHSPECS ' +
  'GLOB_PATHSPECS NOGLOB_PATHSPECS ICASE_PATHSPECS EXTERNAL_DIFF DIFF_OPTS ATTR_SOURCE DEFAULT_HASH ' +
  'DEFAULT_REF_FORMAT'
)
  .split(' ')
  .map((name) => `GIT_${name}`)

export function runGit(cwd: string, args: readonly string[], options: GitOptions = {}): string {
  const encoding = options.encoding ?? 'utf8'
  // Loaded only here: a hook hardly ever runs git, and would pay on every event.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync('git', [...SETTINGS, ...args], {
    cwd,
    env: environment(options.env),
    input: options.input === undefined ? undefined : Buffer.from(options.input, encoding),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    windowsHide: true,
  })
  const stderr = result.stderr?.toString() ?? ''
  // A program that stops reading makes the write fail with EPIPE; its exit code says more.
  if (result.error !== undefined && result.status === null)
    throw spawnError(cwd, args, stderr, result.error)
  if (result.status !== 0) {
    const reason = firstLine(stderr) || describeExit(result.status, result.signal)
    throw new GitFailed(args, result.status ?? undefined, stderr, reason)
  }
  return result.stdout.toString(encoding)
}

export function unlessGitFails<T>(
  work: () => T,
  isExpected: (status: number | undefined) => boolean = () => true,
): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof GitFailed && isExpected(error.status)) return undefined
    throw error
  }
}

export function tryGit(cwd: string, args: readonly string[]): string | undefined {
  return unlessGitFails(() => runGit(cwd, args))
}

/** For commands that answer by exit code: 0 is yes, 1 is no. */
export function gitSucceeds(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
): boolean {
  const printed = unlessGitFails(
    () => runGit(cwd, args, options),
    (status) => status === 1,
  )
  return printed !== undefined
}

// A file system monitor would outlive us.
const SETTINGS = ['-c', 'core.quotepath=off', '-c', 'core.fsmonitor=false']

function environment(extra: Readonly<Record<string, string>> = {}) {
  const env: NodeJS.ProcessEnv = { ...process.env }
  for (const name of CLEARED_VARIABLES) delete env[name]
  return {
    ...env,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    // A read must not take the index lock from the user's own git.
    GIT_OPTIONAL_LOCKS: '0',
    ...extra,
  }
}

function spawnError(cwd: string, args: readonly string[], stderr: string, cause: Error) {
  const { code = '' } = cause as NodeJS.ErrnoException
  const hasFolder = existsSync(cwd)
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: hasFolder ? 'git is not installed' : `there is no folder ${cwd}`,
    ENOBUFS: 'it printed more than can be held',
    ETIMEDOUT: 'it took too long',
  }
  const hint = code === 'ENOENT' && hasFolder ? 'install git and put it on the PATH' : undefined
  return new GitFailed(args, undefined, stderr, reasons[code] ?? cause.message, {
    cause,
    ...defined({ hint }),
  })
}

function describeExit(status: number | null, signal: string | null) {
  return status === null ? `ended by ${signal ?? 'an unknown signal'}` : `exit code ${status}`
}

function firstLine(text: string) {
  return text.split('\n').find((line) => line.trim() !== '') ?? ''
}

function subcommandOf(args: readonly string[]) {
  let at = 0
  while (args[at] === '-c') at += 2
  return args[at] ?? ''
}

/** Set completely: the user may have configured none, and a hook may inherit the identity of another commit. */
export function stintIdentity(): Record<string, string> {
  const date = `${Math.floor(Date.now() / 1000)} +0000`
  const roles = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Stint'],
    [`GIT_${role}_EMAIL`, 'stint@localhost'],
    [`GIT_${role}_DATE`, date],
  ])
  return Object.fromEntries(roles) as Record<string, string>
}

export function identityFor(root: string): Record<string, string> {
  return tryGit(root, ['var', 'GIT_COMMITTER_IDENT']) === undefined ? stintIdentity() : {}
}

// A killed git leaves its locks behind, which stop every later git.

/** git holds a lock only while it writes. */
const LOCK_TIMEOUT_MS = 2000
const POLL_MS = 50

/** Never in the main worktree, where a person may be at work at any time. */
export function removeStaleLocks(
  { gitDir, commonDir, isLinked }: Repository,
  branch: string,
): void {
  if (!isLinked) return
  const locks = [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'refs', 'heads', `${branch}.lock`),
  ]
  const isAnyLocked = () => locks.some((lock) => existsSync(lock))
  for (const until = Date.now() + LOCK_TIMEOUT_MS; isAnyLocked() && Date.now() < until;)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
  for (const lock of locks) removeFile(lock)
}
