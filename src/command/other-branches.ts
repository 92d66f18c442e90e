// Which uses of git move a branch or a tag that is not the agent's own. All worktrees of a repository share them, so
// that a worktree of one's own keeps nobody from it. Where it cannot be known, it is taken for one that does.
import { GitFailed, askGit, runGit } from '../git/run-git.ts'

export interface GitWord {
  readonly text: string
  /** A shell takes it as it is written. */
  readonly isLiteral: boolean
}

/** Whether a command of git, with the words behind its name, moves what is not of the branch that is worked on. */
export function movesOthers(
  command: string,
  words: readonly GitWord[],
  tree: string,
  own: string | undefined,
): boolean {
  const rule = Object.hasOwn(RULES, command) ? RULES[command]! : undefined
  return rule?.(words, (word) => isOtherBranch(word, tree, own)) ?? false
}

type Rule = (words: readonly GitWord[], isOther: (word: GitWord) => boolean) => boolean

const RULES: Readonly<Record<string, Rule>> = {
  bisect: (words, isOther) => words[0]?.text === 'reset' && words.slice(1).some(isOther),
  branch: (words) => has(words, /^-[avrqilt]*[dDmMcCf]/, '--force', '--delete', '--move', '--copy'),
  checkout: switching(/^-[qfldtpm]*B/, /^-[qflpm]*[bdt]/, [
    '-b',
    '--orphan',
    '--conflict',
    '--pathspec-from-file',
    '-U',
    '--unified',
  ]),
  fetch: namesWhereTo,
  pull: namesWhereTo,
  rebase: rebasesAnother,
  switch: switching(/^-[qftm]*C/, /^-[qfm]*[cdt]/, ['-c', '--create', '--orphan', '--conflict']),
  'symbolic-ref': (words) => words.filter(isName).length > 1 || has(words, /^-[q]*d/, '--delete'),
  tag: (words) => has(words, /^-[asliv]*[df]/, '--force', '--delete'),
  'update-ref': () => true,
}

/** For commands that go to another branch, unless they make it, look at a commit, or bring back files. */
function switching(forced: RegExp, making: RegExp, valued: readonly string[]): Rule {
  return (words, isOther) => {
    if (has(words, forced, '--force-create', '--ignore-other-worktrees')) return true
    const end = words.findIndex(({ text }) => text === '--')
    const before = end === -1 ? words : words.slice(0, end)
    if (has(before, making, '--create', '--orphan', '--detach')) return false
    const names = namesIn(before, valued)
    const bringsFiles = names.length > 1 || (end !== -1 && end < words.length - 1)
    return !bringsFiles && names.some(isOther)
  }
}

/** `main:main` says where to put what is fetched; a first name with a colon is an address. */
function namesWhereTo(words: readonly GitWord[]): boolean {
  const names = words.filter((word) => isName(word) && !/^\d+$/.test(word.text)).slice(1)
  const isElsewhere = names.some(({ text, isLiteral }) => text.includes(':') || !isLiteral)
  return isElsewhere || has(words, /^-[a-zA-Z]*u/, '--refmap', '--stdin', '--update-head-ok')
}

/** Behind what it is put on top of, the branch to move may be named. */
function rebasesAnother(words: readonly GitWord[], isOther: (word: GitWord) => boolean): boolean {
  if (has(words, undefined, '--update-refs')) return true
  const names = namesIn(words, ['--onto', '-s', '--strategy', '-X', '--strategy-option'])
  const behind = has(words, undefined, '--root') ? names : names.slice(1)
  return behind.some(isOther)
}

function isName({ text }: GitWord): boolean {
  return text === '-' || !text.startsWith('-')
}

/** The words that are neither options nor the values of these. */
function namesIn(words: readonly GitWord[], valued: readonly string[]): readonly GitWord[] {
  const isValue = (index: number) => {
    const before = words[index - 1]?.text ?? ''
    return valued.some(
      (option) =>
        before === option ||
        (before.length > 2 && before.startsWith('--') && option.startsWith(before)),
    )
  }
  return words.filter((word, index) => isName(word) && !isValue(index))
}

/** Whether one of the options is there. Git takes the beginnings of long ones for them as well. */
function has(
  words: readonly GitWord[],
  short: RegExp | undefined,
  ...long: readonly string[]
): boolean {
  return words.some(({ text }) => {
    const [name = ''] = text.split('=')
    // Which is an option of its own to those that know a longer one.
    if (name === '--force' && !long.includes(name)) return false
    return (
      short?.test(text) === true ||
      (name.length > 2 && long.some((option) => option.startsWith(name)))
    )
  })
}

function isOtherBranch(
  { text, isLiteral }: GitWord,
  tree: string,
  own: string | undefined,
): boolean {
  if (!isLiteral) return true
  const before = text === '-' ? '@{-1}' : text
  try {
    if (!/^@\{-\d+\}$/.test(before)) {
      return text !== own && askGit(tree, ['show-ref', '--verify', '--quiet', `refs/heads/${text}`])
    }
    const full = runGit(tree, ['rev-parse', '--symbolic-full-name', before]).trim()
    return full.startsWith('refs/heads/') && full !== `refs/heads/${own}`
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  }
}
