import { resolve } from 'node:path'
import { GitFailed, gitSucceeds, runGit } from '../git/run-git.ts'
import { isLiteral, without } from './harmless-commands.ts'
import { isEditable, isFolderInside, isInsideTree, leadsToProtected } from './inside-tree.ts'
import type { ShellCommand } from './shell-commands.ts'

export interface GitScope {
  readonly tree: string
  readonly branch?: string | undefined
  readonly folders: readonly (string | undefined)[]
}

/**
 * An allow list, because many git options and settings run programs. With a scope, writing commands
 * are also restricted to its working tree and branch.
 */
export function isOrdinaryGit({ words, written }: ShellCommand, scope?: GitScope): boolean {
  if (words[0] !== 'git') return false
  const at = endOfOptions(words)
  if (at === undefined) return false
  const [command = 'version', ...args] = words.slice(at)
  if (args.some(isUnsafeArgument)) return false
  if (scope !== undefined) {
    const { tree, branch } = scope
    const folders = scope.folders.map((folder) => folderIn(folder, words.slice(0, at), written))
    const isInTree = folders.every((folder) => isFolderInside(tree, folder))
    if (!isInTree && !READING_COMMANDS.has(command)) return false
    if (CHANGING_FILES.has(command) && args.some((arg) => namesProtected(arg, folders, tree)))
      return false
    const given = args.map((text, index) => ({
      text,
      isLiteral: isLiteral(written[at + 1 + index] ?? ''),
    }))
    if (MOVING.get(command)?.(given, (word) => isOtherBranch(word, tree, branch)) === true)
      return false
  }
  return ORDINARY_COMMANDS.has(command) || (CHECKED_COMMANDS.get(command)?.(args) ?? false)
}

const READING =
  'annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-index diff-tree ' +
  'for-each-ref log ls-files ls-remote ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog ' +
  'show show-branch show-ref status var verify-commit verify-tag version whatchanged'

const ORDINARY_COMMANDS = new Set(
  (
    `${READING} add am apply branch checkout cherry-pick clean commit commit-tree fetch fsck hash-object merge merge-tree mv ` +
    'notes pull reset restore revert rm sparse-checkout stage switch symbolic-ref tag update-index update-ref write-tree'
  ).split(' '),
)

const READING_COMMANDS = new Set(`${READING} grep reflog remote worktree`.split(' '))
const CHANGING_FILES = new Set(['apply', 'checkout', 'clean', 'mv', 'restore', 'rm'])

/** Directly, after `:/` or `=`, or through a symbolic link. */
function namesProtected(word: string, folders: readonly (string | undefined)[], tree: string) {
  if (word.split(/[:()=]/).some(leadsToProtected)) return true
  return folders.some((folder) => {
    const path = folder === undefined ? undefined : resolve(folder, word)
    return path !== undefined && isInsideTree(tree, path) && !isEditable(tree, path)
  })
}

type Check = (args: readonly string[]) => boolean

const isOneOf =
  (...verbs: readonly (string | undefined)[]): Check =>
  (args) =>
    verbs.includes(args.find((arg) => !arg.startsWith('-')))

const CHECKED_COMMANDS: ReadonlyMap<string, Check> = new Map([
  ['bisect', isOneOf(...'start good bad new old skip reset log next terms'.split(' '))],
  ['config', isReadingConfig],
  ['format-patch', without(/^-[a-zA-Z]*o/)],
  ['grep', without(/^-[a-zA-Z]*O/)],
  ['rebase', without(/^-[a-zA-Z]*x/)],
  ['reflog', (args) => !['expire', 'delete', 'drop'].includes(args[0] ?? '')],
  ['remote', isOneOf(undefined, 'show', 'get-url')],
  // All worktrees share one stash.
  ['stash', ([verb = '']) => ['list', 'show'].includes(verb)],
  ['submodule', isOneOf(undefined, 'status', 'summary', 'init', 'update')],
  ['worktree', isOneOf('list')],
])

const UNSAFE_OPTIONS =
  '--output --output-directory --exec --upload-pack --receive-pack --open-files-in-pager --unsafe-paths --build-fake-ancestor'.split(
    ' ',
  )

function isUnsafeArgument(arg: string) {
  return arg.startsWith('ext::') || isOptionOf(arg, UNSAFE_OPTIONS)
}

/** git accepts unambiguous prefixes of long options. */
function isOptionOf(arg: string, long: readonly string[]) {
  const [name = ''] = arg.split('=')
  return name.length > 2 && long.some((option) => option.startsWith(name))
}

const QUIET_OPTIONS = new Set(
  '--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects'.split(' '),
)

/** Undefined if a global option of git does more than select a folder or the output format. */
function endOfOptions(words: readonly string[]) {
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

function folderIn(
  from: string | undefined,
  options: readonly string[],
  written: readonly string[],
) {
  return options.reduce<string | undefined>((folder, option, at) => {
    if (option !== '-C' || folder === undefined) return folder
    return isLiteral(written[at + 1] ?? '$') ? resolve(folder, options[at + 1] ?? '') : undefined
  }, from)
}

const HARMLESS_KEYS = new Set(
  'user.name user.email core.quotepath commit.gpgsign tag.gpgsign color.ui'.split(' '),
)
// These keep git from waiting for an editor.
const HARMLESS_SETTINGS = new Set(
  'core.editor=true core.editor=: core.pager=cat core.pager='.split(' '),
)

function isHarmlessSetting(setting: string) {
  const [key = ''] = setting.split('=')
  return HARMLESS_KEYS.has(key.toLowerCase()) || HARMLESS_SETTINGS.has(setting)
}

const CONFIG_READING = new Set(['--get', '--get-all', '--get-regexp', '--list', '-l'])
const CONFIG_FORMAT = new Set(
  '--local --global --system --worktree --show-origin --show-scope --name-only -z --null --bool --int --type --includes'.split(
    ' ',
  ),
)
const CONFIG_CHANGING = new Set(['set', 'unset', 'rename-section', 'remove-section', 'edit'])
/** A key alone reads its value. A shell expansion could become a key and a value. */
const SETTING = /^[\w-]+\.[\w./-]+$/

/** All worktrees share the settings, and many settings name a program. */
function isReadingConfig(args: readonly string[]) {
  const options = args.filter((arg) => arg.startsWith('-')).map((arg) => arg.split('=')[0]!)
  const isReading = options.some((option) => CONFIG_READING.has(option))
  if (!options.every((option) => CONFIG_READING.has(option) || CONFIG_FORMAT.has(option)))
    return false
  const [verb = '', ...rest] = args.filter((arg) => !arg.startsWith('-'))
  if (CONFIG_CHANGING.has(verb)) return false
  return isReading || verb === 'get' || verb === 'list' || (rest.length === 0 && SETTING.test(verb))
}

interface GitWord {
  readonly text: string
  readonly isLiteral: boolean
}
type Words = readonly GitWord[]
/**
 * Whether a command moves a branch or tag other than the agent's own; all worktrees share them.
 * True if unsure.
 */
type Moving = (words: Words, isOther: (word: GitWord) => boolean) => boolean

const MOVING: ReadonlyMap<string, Moving> = new Map<string, Moving>([
  ['bisect', (words, isOther) => words[0]?.text === 'reset' && words.slice(1).some(isOther)],
  ['branch', (words) => has(words, /^-[avrqilt]*[dDmMcCf]/, '--force --delete --move --copy')],
  [
    'checkout',
    switching(
      /^-[qfldtpm]*B/,
      /^-[qflpm]*[bdt]/,
      '-b --orphan --conflict --pathspec-from-file -U --unified',
    ),
  ],
  ['fetch', namesTarget],
  ['pull', namesTarget],
  ['rebase', rebasesAnother],
  ['switch', switching(/^-[qftm]*C/, /^-[qfm]*[cdt]/, '-c --create --orphan --conflict')],
  ['symbolic-ref', (words) => words.filter(isName).length > 1 || has(words, /^-[q]*d/, '--delete')],
  ['tag', (words) => has(words, /^-[asliv]*[df]/, '--force --delete')],
  ['update-ref', () => true],
])

/** Creating a branch, detaching and restoring files are fine. */
function switching(forced: RegExp, creating: RegExp, valued: string): Moving {
  return (words, isOther) => {
    if (has(words, forced, '--force-create --ignore-other-worktrees')) return true
    const end = words.findIndex(({ text }) => text === '--')
    const before = end === -1 ? words : words.slice(0, end)
    if (has(before, creating, '--create --orphan --detach')) return false
    const names = namesIn(before, valued)
    const restoresFiles = names.length > 1 || (end !== -1 && end < words.length - 1)
    return !restoresFiles && names.some(isOther)
  }
}

/** `main:main` names the ref to update; in the first argument a colon is part of a URL. */
function namesTarget(words: Words) {
  const names = words.filter((word) => isName(word) && !/^\d+$/.test(word.text)).slice(1)
  const isElsewhere = names.some(({ text, isLiteral }) => text.includes(':') || !isLiteral)
  return isElsewhere || has(words, /^-[a-zA-Z]*u/, '--refmap --stdin --update-head-ok')
}

/** The second argument may name another branch to rebase. */
function rebasesAnother(words: Words, isOther: (word: GitWord) => boolean) {
  if (has(words, undefined, '--update-refs')) return true
  const names = namesIn(words, '--onto -s --strategy -X --strategy-option')
  return (has(words, undefined, '--root') ? names : names.slice(1)).some(isOther)
}

function isName({ text }: GitWord) {
  return text === '-' || !text.startsWith('-')
}

function namesIn(words: Words, valued: string) {
  const options = valued.split(' ')
  return words.filter((word, index) => {
    const before = words[index - 1]?.text ?? ''
    const isValue =
      options.includes(before) ||
      (before.startsWith('--') && !before.includes('=') && isOptionOf(before, options))
    return isName(word) && !isValue
  })
}

function has(words: Words, short: RegExp | undefined, longOptions: string) {
  const long = longOptions.split(' ')
  return words.some(({ text }) => {
    // Commands that know a longer option have `--force` as a separate one.
    if (text.split('=')[0] === '--force' && !long.includes('--force')) return false
    return short?.test(text) === true || isOptionOf(text, long)
  })
}

function isOtherBranch({ text, isLiteral }: GitWord, tree: string, own: string | undefined) {
  if (!isLiteral) return true
  const before = text === '-' ? '@{-1}' : text
  try {
    if (!/^@\{-\d+\}$/.test(before))
      return (
        text !== own && gitSucceeds(tree, ['show-ref', '--verify', '--quiet', `refs/heads/${text}`])
      )
    const full = runGit(tree, ['rev-parse', '--symbolic-full-name', before]).trim()
    return full.startsWith('refs/heads/') && full !== `refs/heads/${own}`
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  }
}
