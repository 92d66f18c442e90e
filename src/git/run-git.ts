import { existsSync, realpathSync } from 'node:fs'
import { StintError } from '../journal/errors.ts'
import { join } from 'node:path'
import { readOrUndefined } from '../journal/read-files.ts'
import { removeFile } from '../journal/write-files.ts'
import { defined } from '../text/defined.ts'
import { pathOutside, programIn } from './program-outside.ts'
import { type Repository, findRepository } from './repository.ts'

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
  /** Content filters of the repository's own configuration run: without them a filtered file may look changed. */
  readonly hasFilters?: boolean
  /** The user's hooks run. */
  readonly hasHooks?: boolean
  /** What git writes is on disk when it returns. */
  readonly isDurable?: boolean
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

/** A folder, or a repository itself, which may have no files checked out. */
export type GitPlace = string | Repository

/** Inspects a repository. Nothing that its configuration names is executed: no hook, filter, diff driver, pager or monitor. */
export function runGit(place: GitPlace, args: readonly string[], options: GitOptions = {}): string {
  const encoding = options.encoding ?? 'utf8'
  // Loaded only here: a hook hardly ever runs git, and would pay on every event.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { program, args: all, cwd, env } = gitInvocation(place, args, options)
  const result = spawnSync(program, all, {
    cwd,
    env,
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

/** Changes a repository: content filters run, as its files need them, and git waits until objects and references are on disk. */
export function writeGit(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): string {
  return runGit(place, args, { ...options, hasFilters: true, isDurable: true })
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

export function tryGit(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): string | undefined {
  return unlessGitFails(() => runGit(place, args, options))
}

/** For commands that answer by exit code: 0 is yes, 1 is no. */
export function gitSucceeds(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): boolean {
  const printed = unlessGitFails(
    () => runGit(place, args, options),
    (status) => status === 1,
  )
  return printed !== undefined
}

// A file system monitor would outlive us. A bare repository among the files of a project is data, and its configuration is not the user's.
const SETTINGS = [
  'core.quotepath=off',
  'core.fsmonitor=false',
  'safe.bareRepository=explicit',
  'log.showSignature=false',
]
const WITHOUT_HOOKS = 'core.hooksPath=/dev/null'
// After a power cut a reference must not name objects that never reached the disk.
const DURABLE = ['core.fsync=all', 'core.fsyncMethod=fsync']
// In a partial clone these would fetch what is missing, with a command that the configuration names.
const OFFLINE = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '' }
const READING_COMMANDS: ReadonlySet<string> = new Set(
  (
    'blame cat-file check-attr check-ignore describe diff diff-files diff-index diff-tree for-each-ref ' +
    'grep log ls-files ls-tree merge-base name-rev rev-list rev-parse shortlog show show-ref status symbolic-ref'
  ).split(' '),
)
const DIFF_COMMANDS: ReadonlySet<string> = new Set(['diff', 'log', 'show'])

/** For callers that start git themselves. */
export function gitInvocation(
  place: GitPlace,
  args: readonly string[],
  { hasFilters = false, hasHooks = false, isDurable = false, env }: GitOptions = {},
) {
  const cwd = typeof place === 'string' ? place : place.commonDir
  const repository = typeof place === 'string' ? findRepository(place) : place
  const { mainRoot, worktree } = repository ?? { mainRoot: cwd, worktree: cwd }
  // Also for the programs that git starts, such as filters.
  const path = pathOutside(env?.PATH ?? process.env.PATH, [mainRoot, worktree])
  const program = programIn('git', path) ?? NO_GIT
  const settings = [
    ...SETTINGS,
    ...(hasHooks ? [] : [WITHOUT_HOOKS]),
    ...(isDurable ? durableSettings(program) : []),
  ]
  const at = subcommandIndex(args)
  const isDiff = DIFF_COMMANDS.has(args[at] ?? '')
  return {
    program,
    cwd,
    args: [
      ...explicitGitDir(place, repository),
      ...settings.flatMap((setting) => ['-c', setting]),
      ...args.slice(0, at + 1),
      ...(isDiff ? ['--no-ext-diff', '--no-textconv'] : []),
      ...args.slice(at + 1),
    ],
    env: {
      ...environment({ ...env, PATH: path }),
      ...(!hasFilters && READING_COMMANDS.has(args[at] ?? '') ? OFFLINE : {}),
      ...(hasFilters || repository === undefined ? {} : withoutFilters(program, cwd, repository)),
    },
  }
}

/** Starting it fails, as it would without git on the PATH. */
const NO_GIT = '/dev/null/git'

/** git takes the directory that it starts in for a bare repository that was not named. */
function explicitGitDir(place: GitPlace, repository: Repository | undefined) {
  if (typeof place !== 'string') return [`--git-dir=${place.commonDir}`]
  const isInside =
    repository !== undefined && `${realFolder(place)}/`.startsWith(`${repository.gitDir}/`)
  return isInside ? [`--git-dir=${repository.gitDir}`] : []
}

/** git before 2.36 has one setting for this, and later ones warn about it. */
let hasFsyncComponents: boolean | undefined

function durableSettings(program: string) {
  if (hasFsyncComponents === undefined) {
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    const printed = String(spawnSync(program, ['version'], { encoding: 'utf8' }).stdout)
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(printed)?.map(Number) ?? []
    hasFsyncComponents = major > 2 || (major === 2 && minor >= 36)
  }
  return hasFsyncComponents ? DURABLE : ['core.fsyncObjectFiles=true']
}

function realFolder(path: string) {
  try {
    return realpathSync.native(path)
  } catch {
    // Missing: git itself reports it.
    return path
  }
}

/** Filters of the repository's own configuration, set to nothing. The environment takes names that `-c` cannot. */
function withoutFilters(
  program: string,
  cwd: string,
  { gitDir, commonDir }: Repository,
): NodeJS.ProcessEnv {
  const files = [join(commonDir, 'config'), join(gitDir, 'config.worktree')]
  const mayFilter = files.some((file) => /filter|include/i.test(configText(file)))
  if (!mayFilter) return {}
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const list = ['config', '--show-scope', '--null', '--name-only', '--get-regexp', '^filter\\.']
  const printed = spawnSync(program, [`--git-dir=${gitDir}`, ...list], {
    cwd,
    env: environment(),
    timeout: TIMEOUT_MS,
  })
  const fields = String(printed.stdout).split('\0')
  const names = new Set<string>()
  for (let at = 0; at + 1 < fields.length; at += 2)
    if (fields[at] === 'local' || fields[at] === 'worktree')
      names.add(fields[at + 1]!.replace(/^filter\./, '').replace(/\.[^.]*$/, ''))
  const settings = [...names].flatMap((name) => [
    ...['clean', 'smudge', 'process'].map((key) => [`filter.${name}.${key}`, '']),
    [`filter.${name}.required`, 'false'],
  ])
  const first = Number(process.env['GIT_CONFIG_COUNT'] ?? 0) || 0
  const pairs = settings.flatMap(([key = '', value = ''], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return {
    ...Object.fromEntries(pairs),
    GIT_CONFIG_COUNT: String(first + settings.length),
  }
}

function configText(path: string) {
  try {
    return readOrUndefined(path)?.toString('latin1') ?? ''
  } catch {
    // git itself reports a configuration that cannot be read.
    return 'filter'
  }
}

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
    ENOTDIR: 'git is not installed',
    ENOENT: hasFolder ? 'git is not installed' : `there is no folder ${cwd}`,
    ENOBUFS: 'it printed more than can be held',
    ETIMEDOUT: 'it took too long',
  }
  const hint =
    ['ENOENT', 'ENOTDIR'].includes(code) && hasFolder
      ? 'install git and put it on the PATH'
      : undefined
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
  return args[subcommandIndex(args)] ?? ''
}

function subcommandIndex(args: readonly string[]) {
  let at = 0
  while (args[at] === '-c') at += 2
  return at
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
