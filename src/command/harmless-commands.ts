// Shell commands that permission rules may allow.
import { resolve } from 'node:path'
import { type ShellCommand, singleQuoted } from './shell-commands.ts'
import { programOf } from './unwrap-command.ts'

const HARMLESS_REDIRECT =
  /(?:\d?>&\d|&>>? ?\/dev\/null|\d?>>? ?\/dev\/null|< ?\/dev\/null)(?=$|[\s;&|)])/g
const TOKEN = /\\[^]?|'[^']*'|"(?:\\[^]|[^"\\])*"|[^]/y
/**
 * `$name` and `${name}` only read. Any other expansion may run a command or assign one for later.
 */
const MORE_THAN_NAME = /`|\$(?:[([]|\{(?!\w+(?:\[(?:\d+|@|\*)\])?\}))/

/**
 * Undefined unless our splitter reads the line exactly as a shell does. A heredoc message becomes
 * one quoted word.
 */
export function plainShellLine(line: string): string | undefined {
  if (/[\u0000-\u0008\u000B-\u001F\u007F]/.test(line)) return undefined
  let plain = ''
  // The text outside quotes, with a letter for each quoted part.
  let outside = ''
  for (let at = 0; at < line.length;) {
    if (line[at] === '#' && /(?:^|[\s;&|()])$/.test(outside)) {
      // A quote inside a comment does not count.
      const end = line.indexOf('\n', at)
      at = end === -1 ? line.length : end
      continue
    }
    const heredoc = heredocAt(line, at)
    TOKEN.lastIndex = at
    const token = heredoc?.written ?? TOKEN.exec(line)![0]
    at += token.length
    if (heredoc === undefined) {
      const isOpenQuote = token === "'" || token === '"'
      const isRunning =
        token.startsWith('"') || token === '`'
          ? MORE_THAN_NAME.test(token.replace(/\\[^]/g, ' '))
          : token === '$' &&
            (/^['"]/.test(line.slice(at)) ||
              MORE_THAN_NAME.exec(line.slice(at - 1, at + 200))?.index === 0)
      if (isOpenQuote || isRunning) return undefined
    }
    plain += heredoc === undefined ? token : singleQuoted(heredoc.text)
    outside += token.length > 1 || token === '\\' ? 'q' : token
  }
  // Unicode spaces separate words for `\s` but not for a shell.
  return /[<>]|[^\S \t\n]/.test(outside.replace(HARMLESS_REDIRECT, '')) ? undefined : plain
}

/**
 * How agents pass several lines to `git commit -m`. Some shells also end the heredoc at a line that
 * starts with the delimiter.
 */
const HEREDOC = /"\$\(cat <<(-?) ?(['"])(\w+)\2\n((?:(?![ \t]*\3)[^\n]*\n)*)(\t*)\3\n[ \t\n]*\)"/y

function heredocAt(line: string, at: number) {
  HEREDOC.lastIndex = at
  const [written, dash = '', , , lines = '', tabs = ''] = HEREDOC.exec(line) ?? []
  if (written === undefined || (dash === '' && tabs !== '')) return undefined
  const text = (dash === '' ? lines : lines.replace(/^\t+/gm, '')).replace(/\n+$/, '')
  return { text, written }
}

const QUOTED = /\\([^])|'([^']*)'|"((?:\\[^]|[^"\\])*)"/g

/**
 * Whether shell expansion may turn the word into an option: `{--exec=x,y}`, `$nothing--exec=x`,
 * `--ex$nothing`.
 */
export function mayHideOption(written: string): boolean {
  const word = written.replace(QUOTED, (_, escaped?: string, single?: string, double?: string) =>
    double === undefined
      ? (escaped ?? single ?? '').replace(/[$*?[{},]/g, 'q')
      : double.replace(/\\[^]|[*?[{},]/g, 'q'),
  )
  if (word.startsWith('-')) return /^-[^\s=]*[$*?[{]/.test(word)
  if (word.startsWith('{')) return /,|\.\./.test(word)
  return (
    word.startsWith('$') && !/^\$(?:\w+(?:$|[/.:])|(?:\{[^}]*\}|[?#@*!$])(?:$|[\w/.:]))/.test(word)
  )
}

export function isLiteral(written: string): boolean {
  const word = written.replace(QUOTED, (_, _escaped?: string, _single?: string, double?: string) =>
    double === undefined ? 'q' : double.replace(/\\[^]|[*?[{~]/g, 'q'),
  )
  return !/[$*?[{`]|^~/.test(word)
}

type Folders = readonly (string | undefined)[]

/**
 * The folders that each command may run in. A `cd` that may have failed adds the previous folder;
 * subshells are not tracked.
 */
export function workingFolders(
  commands: readonly ShellCommand[],
  from: Folders,
  hasBrackets: boolean,
): readonly Folders[] {
  let before = from
  let now = from
  return commands.map((command) => {
    const here = now
    if (command.words[0] === 'cd') {
      const reached = here.map((folder) => folderAfter(command, folder))
      const isSure = !hasBrackets && [undefined, '&&', ';'].includes(command.before)
      now = isSure ? reached : union(here, reached)
      before = union(before, reached)
    }
    // Only after `&&` is it certain that the previous commands succeeded.
    if (command.after !== '&&') now = before
    return here
  })
}

function folderAfter({ words, written }: ShellCommand, folder: string | undefined) {
  const at = words.findIndex((word, index) => index > 0 && !/^(?:-[LPe@]+|--)$/.test(word))
  const to = words[at] ?? ''
  if (at < 1 || at !== words.length - 1 || to === '-' || !isLiteral(written[at]!)) return undefined
  if (to.startsWith('/')) return resolve(to)
  return folder === undefined ? undefined : resolve(folder, to)
}

function union(a: Folders, b: Folders) {
  return [...new Set([...a, ...b])]
}

export function isHarmlessCommand(words: readonly string[]): boolean {
  return isPlainName(words) && HARMLESS.has(programOf(words))
}

/** Programs with writing options are allowed only without those. */
export function isReadOnlyCommand(words: readonly string[]): boolean {
  const isSafe = isPlainName(words) ? READING.get(programOf(words)) : undefined
  return isSafe?.(words.slice(1)) ?? false
}

/** A program in the working tree may have any name. */
function isPlainName(words: readonly string[]) {
  return words[0]?.includes('/') === false
}

const HARMLESS = new Set(
  (
    'basename cat cd cmp cut df diff dirname du echo egrep false fgrep grep head id jq ls nl pwd ' +
    'readlink realpath stat tail tr true uname wc which whoami'
  ).split(' '),
)

export function without(forbidden: RegExp) {
  return (args: readonly string[]): boolean => !args.some((arg) => forbidden.test(arg))
}

/**
 * `-v` evaluates a text as a variable name, and some shells evaluate arithmetic; both can run
 * commands.
 */
const evaluatesNothing = without(/^-v|\$\(|`/)

const READING: ReadonlyMap<string, (args: readonly string[]) => boolean> = new Map([
  ['[', evaluatesNothing],
  ['test', evaluatesNothing],
  ['printf', evaluatesNothing],
  ['command', ([first]) => first === '-v'],
  ['find', without(/^-(?:exec|execdir|ok|okdir|delete|fls|fprint.*)$/)],
  ['rg', without(/^--(?:pre|hostname-bin)/)],
  [
    'sed',
    // Only prints line ranges: other sed scripts can write files and run commands.
    ([option, lines = '', ...files]) =>
      option === '-n' && /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(lines) && without(/^-/)(files),
  ],
  ['sort', without(/^-[a-zA-Z]*o|^--(?:o|co)/)],
  // The second operand is an output file.
  ['uniq', (args) => !args.includes('--') && args.filter((arg) => !/^-./.test(arg)).length < 2],
])
