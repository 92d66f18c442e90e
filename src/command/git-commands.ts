import { resolve } from 'node:path'
import { isLiteral } from './hidden-options.ts'
import { isEditable, isFolderInside, isInside, leadsToKept } from './inside-tree.ts'
import { movesOthers } from './other-branches.ts'
import type { ShellCommand } from './shell-commands.ts'

/** Where a command is given. */
export interface GitPlace {
  readonly tree: string
  readonly branch?: string | undefined
  /** The folders it may be given in. */
  readonly folders: readonly (string | undefined)[]
}

/**
 * Whether a command is git as one works with it: on this repository, running nothing but what is set up already, sending
 * nothing away. By what is known to be so, since git runs programs by many options and settings, and anything may be called
 * `git-something`. Hooks, filters and tools that the user has set up run all the same. With a place it is also held to that:
 * to the working tree, but for looking, and to the branch.
 */
export function isOrdinaryGit({ words, written }: ShellCommand, place?: GitPlace): boolean {
  if (words[0] !== 'git') return false
  const at = endOfOptions(words)
  if (at === undefined) return false
  const [command = 'version', ...args] = words.slice(at)
  if (args.some(reachesOut)) return false
  if (place !== undefined) {
    const folders = place.folders.map((folder) => folderIn(folder, words.slice(0, at), written))
    const isInTree = folders.every((folder) => isFolderInside(place.tree, folder))
    if (!isInTree && !LOOKING.has(command)) return false
    if (CHANGING_FILES.has(command) && args.some((arg) => namesKept(arg, folders, place.tree)))
      return false
    const given = args.map((text, index) => ({
      text,
      isLiteral: isLiteral(written[at + 1 + index] ?? ''),
    }))
    if (movesOthers(command, given, place.tree, place.branch)) return false
  }
  if (ORDINARY.has(command)) return true
  const isSafe = Object.hasOwn(CAREFUL, command) ? CAREFUL[command]! : undefined
  return isSafe?.(args) ?? false
}

const ORDINARY = new Set(
  (
    'add am annotate apply blame branch cat-file check-attr check-ignore checkout cherry cherry-pick clean commit commit-tree ' +
    'count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref fsck hash-object log ls-files ls-remote ' +
    'ls-tree merge merge-base merge-tree mv name-rev notes pull range-diff reset restore rev-list rev-parse revert rm shortlog ' +
    'show show-branch show-ref sparse-checkout stage status switch symbolic-ref tag update-index update-ref var ' +
    'verify-commit verify-tag version whatchanged write-tree'
  ).split(' '),
)

/** What changes nothing, wherever it is given. */
const LOOKING = new Set(
  (
    'annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-index diff-tree ' +
    'for-each-ref grep log ls-files ls-remote ls-tree merge-base name-rev range-diff reflog remote rev-list rev-parse shortlog ' +
    'show show-branch show-ref status var verify-commit verify-tag version whatchanged worktree'
  ).split(' '),
)

/** What changes the files that it names. */
const CHANGING_FILES = new Set(['apply', 'checkout', 'clean', 'mv', 'restore', 'rm'])

/** Whether a word of a command is a path into what is kept from agents: as it stands, behind `:/` or `=`, or through a link. */
function namesKept(word: string, folders: readonly (string | undefined)[], tree: string): boolean {
  if (word.split(/[:()=]/).some(leadsToKept)) return true
  return folders.some((folder) => {
    const path = folder === undefined ? undefined : resolve(folder, word)
    return path !== undefined && isInside(tree, path) && !isEditable(tree, path)
  })
}

const CAREFUL: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  bisect: isOneOf('start', 'good', 'bad', 'new', 'old', 'skip', 'reset', 'log', 'next', 'terms'),
  config: looksUpSetting,
  'format-patch': (args) => !args.some((arg) => /^-[a-zA-Z]*o/.test(arg)),
  grep: (args) => !args.some((arg) => /^-[a-zA-Z]*O/.test(arg)),
  rebase: (args) => !args.some((arg) => /^-[a-zA-Z]*x/.test(arg)),
  reflog: (args) => !['expire', 'delete', 'drop'].includes(args[0] ?? ''),
  remote: isOneOf(undefined, 'show', 'get-url'),
  // All worktrees share one pile: what is taken from it is somebody's, and what is put on it lies in everybody's way.
  stash: ([verb = '']) => ['list', 'show'].includes(verb),
  submodule: isOneOf(undefined, 'status', 'summary', 'init', 'update'),
  worktree: isOneOf('list'),
}

function isOneOf(...verbs: readonly (string | undefined)[]): (args: readonly string[]) => boolean {
  return (args) => verbs.includes(args.find((arg) => !arg.startsWith('-')))
}

/** Options by which any command writes a file elsewhere or starts a program. Git takes their beginnings for them as well. */
const REACHING = [
  '--output',
  '--output-directory',
  '--exec',
  '--upload-pack',
  '--receive-pack',
  '--open-files-in-pager',
  '--unsafe-paths',
  '--build-fake-ancestor',
]

function reachesOut(arg: string): boolean {
  const [name = ''] = arg.split('=')
  return (
    arg.startsWith('ext::') ||
    (name.length > 2 && REACHING.some((option) => option.startsWith(name)))
  )
}

const QUIET_OPTIONS = new Set([
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--literal-pathspecs',
  '--no-replace-objects',
])

/** Where the command stands behind git's own options; undefined if these do more than say where and how to print. */
function endOfOptions(words: readonly string[]): number | undefined {
  let at = 1
  while (words[at]?.startsWith('-') === true) {
    const option = words[at]!
    if (option === '--version') return words.length
    if (option === '-c' && !isHarmlessSetting(words[at + 1] ?? '')) return undefined
    if (option !== '-c' && option !== '-C' && !QUIET_OPTIONS.has(option)) return undefined
    at += option === '-c' || option === '-C' ? 2 : 1
  }
  return at
}

/** Where `-C` leads from a folder; undefined when that cannot be known. */
function folderIn(
  from: string | undefined,
  options: readonly string[],
  written: readonly string[],
): string | undefined {
  return options.reduce<string | undefined>((folder, option, at) => {
    if (option !== '-C' || folder === undefined) return folder
    return isLiteral(written[at + 1] ?? '$') ? resolve(folder, options[at + 1] ?? '') : undefined
  }, from)
}

const HARMLESS_KEYS = new Set([
  'user.name',
  'user.email',
  'core.quotepath',
  'commit.gpgsign',
  'tag.gpgsign',
  'color.ui',
])
// How one keeps git from waiting for an editor.
const HARMLESS_SETTINGS = new Set([
  'core.editor=true',
  'core.editor=:',
  'core.pager=cat',
  'core.pager=',
])

function isHarmlessSetting(setting: string): boolean {
  const [key = ''] = setting.split('=')
  return HARMLESS_KEYS.has(key.toLowerCase()) || HARMLESS_SETTINGS.has(setting)
}

const READING = new Set(['--get', '--get-all', '--get-regexp', '--list', '-l'])
const HOW_TO_READ = new Set(
  '--local --global --system --worktree --show-origin --show-scope --name-only -z --null --bool --int --type --includes'.split(
    ' ',
  ),
)

const CHANGING = new Set(['set', 'unset', 'rename-section', 'remove-section', 'edit'])
/** Its name alone asks for its value. What a shell makes something else of may be a name and a value. */
const SETTING = /^[\w-]+\.[\w./-]+$/

/** Whether `git config` only looks something up. All worktrees share the settings, and many name a program. */
function looksUpSetting(args: readonly string[]): boolean {
  const options = args.filter((arg) => arg.startsWith('-')).map((arg) => arg.split('=')[0]!)
  if (!options.every((option) => READING.has(option) || HOW_TO_READ.has(option))) return false
  const [verb = '', ...rest] = args.filter((arg) => !arg.startsWith('-'))
  if (CHANGING.has(verb)) return false
  if (options.some((option) => READING.has(option)) || verb === 'get' || verb === 'list')
    return true
  return rest.length === 0 && SETTING.test(verb)
}
