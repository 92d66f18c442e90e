import { existsSync } from 'node:fs'
import { StintError } from '../journal/errors.ts'
import { join } from 'node:path'
import { removeFile } from '../journal/files.ts'
import type { Repository } from './repository.ts'

export class GitFailed extends StintError {
  override readonly name = 'GitFailed'
  constructor(
    readonly args: readonly string[],
    /** Absent when git did not run to its end. */
    readonly status: number | undefined,
    readonly stderr: string,
    reason: string,
    options: ErrorOptions & { hint?: string } = {},
  ) {
    super('GIT_FAILED', `git ${verbOf(args)} failed: ${reason}`, options.hint, options)
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
const FOREIGN = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INDEX_VERSION',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_QUARANTINE_PATH',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_CEILING_DIRECTORIES',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_ATTR_SOURCE',
  'GIT_DEFAULT_HASH',
  'GIT_DEFAULT_REF_FORMAT',
]

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
    throw didNotRun(cwd, args, stderr, result.error)
  if (result.status !== 0) {
    throw new GitFailed(
      args,
      result.status ?? undefined,
      stderr,
      firstLine(stderr) || endOf(result.status, result.signal),
    )
  }
  return result.stdout.toString(encoding)
}

export function tryGit(cwd: string, args: readonly string[]): string | undefined {
  try {
    return runGit(cwd, args)
  } catch (error) {
    if (error instanceof GitFailed) return undefined
    throw error
  }
}

/** For commands that answer by exit code: 0 is yes, 1 is no. */
export function askGit(cwd: string, args: readonly string[], options: GitOptions = {}): boolean {
  try {
    runGit(cwd, args, options)
    return true
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return false
    throw error
  }
}

const SETTINGS = [
  '-c',
  'core.quotepath=off',
  // It would outlive us.
  '-c',
  'core.fsmonitor=false',
]

function environment(extra: Readonly<Record<string, string>> = {}) {
  const env: NodeJS.ProcessEnv = { ...process.env }
  for (const name of FOREIGN) delete env[name]
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

function didNotRun(cwd: string, args: readonly string[], stderr: string, error: Error) {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && !existsSync(cwd))
    return new GitFailed(args, undefined, stderr, `there is no folder ${cwd}`, { cause: error })
  if (code === 'ENOENT') {
    return new GitFailed(args, undefined, stderr, 'git is not installed', {
      cause: error,
      hint: 'install git and put it on the PATH',
    })
  }
  if (code === 'ENOBUFS')
    return new GitFailed(args, undefined, stderr, 'it printed more than can be held', {
      cause: error,
    })
  if (code === 'ETIMEDOUT')
    return new GitFailed(args, undefined, stderr, 'it took too long', { cause: error })
  return new GitFailed(args, undefined, stderr, error.message, { cause: error })
}

function endOf(status: number | null, signal: string | null) {
  return status === null ? `ended by ${signal ?? 'an unknown signal'}` : `exit code ${status}`
}

function firstLine(text: string) {
  return text.split('\n').find((line) => line.trim() !== '') ?? ''
}

function verbOf(args: readonly string[]) {
  let at = 0
  while (args[at] === '-c') at += 2
  return args[at] ?? ''
}

/** Set in full: the user may have configured none, and a hook may inherit that of another commit. */
export function ownIdentity(): Record<string, string> {
  const date = `${Math.floor(Date.now() / 1000)} +0000`
  const roles = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Stint'],
    [`GIT_${role}_EMAIL`, 'stint@localhost'],
    [`GIT_${role}_DATE`, date],
  ])
  return Object.fromEntries(roles) as Record<string, string>
}

export function identityFor(root: string): Record<string, string> {
  try {
    runGit(root, ['var', 'GIT_COMMITTER_IDENT'])
    return {}
  } catch (error) {
    if (error instanceof GitFailed) return ownIdentity()
    throw error
  }
}

// A killed git leaves its locks behind, which stop every later git.

/** git holds a lock only while it writes. */
const PATIENCE_MS = 2000
const LOOK_AGAIN_MS = 50

/** Never in the main worktree, where a person may be at work at any time. */
export function removeLeftLocks({ gitDir, commonDir, isLinked }: Repository, branch: string): void {
  if (!isLinked) return
  const locks = [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'refs', 'heads', `${branch}.lock`),
  ]
  const isAnyLeft = () => locks.some((lock) => existsSync(lock))
  for (const until = Date.now() + PATIENCE_MS; isAnyLeft() && Date.now() < until;)
    pause(LOOK_AGAIN_MS)
  for (const lock of locks) removeFile(lock)
}

function pause(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
