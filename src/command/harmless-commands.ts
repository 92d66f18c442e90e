// What permission rules may trust in a shell line.
import { resolve } from 'node:path'
import { type ShellCommand, singleQuoted } from './shell-commands.ts'
import { programOf } from './unwrap-command.ts'

const QUIET = /(?:\d?>&\d|&>>? ?\/dev\/null|\d?>>? ?\/dev\/null|< ?\/dev\/null)(?=$|[\s;&|)])/g
const TOKEN = /\\[^]?|'[^']*'|"(?:\\[^]|[^"\\])*"|[^]/y
/** `$name` and `${name}` are only read. Everything else may run a command, or be assigned and run later. */
const MORE_THAN_NAME = /`|\$(?:[([]|\{(?!\w+(?:\[(?:\d+|@|\*)\])?\}))/

/** A line that a splitter reads as a shell does; undefined for any other. A message of several lines becomes one quoted word. */
export function plainShellLine(line: string): string | undefined {
  if (/[\u0000-\u0008\u000B-\u001F\u007F]/.test(line)) return undefined
  let plain = ''
  // What stands outside of quotations; a letter stands for what is inside.
  let outside = ''
  for (let at = 0; at < line.length;) {
    if (line[at] === '#' && /(?:^|[\s;&|()])$/.test(outside)) {
      // A quotation that begins in a comment is none.
      const end = line.indexOf('\n', at)
      at = end === -1 ? line.length : end
      continue
    }
    const message = messageAt(line, at)
    TOKEN.lastIndex = at
    const token = message?.written ?? TOKEN.exec(line)![0]
    at += token.length
    if (message === undefined) {
      const isOpenQuote = token === "'" || token === '"'
      const isRunning =
        token.startsWith('"') || token === '`'
          ? MORE_THAN_NAME.test(token.replace(/\\[^]/g, ' '))
          : token === '$' &&
            (/^['"]/.test(line.slice(at)) ||
              MORE_THAN_NAME.exec(line.slice(at - 1, at + 200))?.index === 0)
      if (isOpenQuote || isRunning) return undefined
    }
    plain += message === undefined ? token : singleQuoted(message.text)
    outside += token.length > 1 || token === '\\' ? 'q' : token
  }
  // A blank of another script parts words for us and not for a shell.
  return /[<>]|[^\S \t\n]/.test(outside.replace(QUIET, '')) ? undefined : plain
}

/**
 * How agents give several lines to `git commit -m`. A line that begins with the end ends them too in some shells, so there must be none.
 */
const MESSAGE = /"\$\(cat <<(-?) ?(['"])(\w+)\2\n((?:(?![ \t]*\3)[^\n]*\n)*)(\t*)\3\n[ \t\n]*\)"/y

function messageAt(line: string, at: number) {
  MESSAGE.lastIndex = at
  const [written, dash = '', , , lines = '', tabs = ''] = MESSAGE.exec(line) ?? []
  if (written === undefined || (dash === '' && tabs !== '')) return undefined
  const text = (dash === '' ? lines : lines.replace(/^\t+/gm, '')).replace(/\n+$/, '')
  return { text, written }
}

const QUOTED = /\\([^])|'([^']*)'|"((?:\\[^]|[^"\\])*)"/g

/** Whether a word may become an option once a shell has expanded it: `{--exec=x,y}`, `$nothing--exec=x`, `--ex$nothing`. */
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
 * The folders that each command may run in. Where a `cd` may have failed, that includes where it would be without; brackets cannot be
 * followed.
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
    // Only behind `&&` is it certain that all before has passed.
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

/** What can write by an option is let through only without that option. */
export function isReadOnlyCommand(words: readonly string[]): boolean {
  const isSafe = isPlainName(words) ? READING.get(programOf(words)) : undefined
  return isSafe?.(words.slice(1)) ?? false
}

/** A program in the working tree may be called anything. */
function isPlainName(words: readonly string[]) {
  return words[0]?.includes('/') === false
}

const HARMLESS = new Set(
  (
    'basename cat cd cmp cut df diff dirname du echo egrep false fgrep grep head id jq ls nl pwd ' +
    'readlink realpath stat tail tr true uname wc which whoami'
  ).split(' '),
)

const without = (forbidden: RegExp) => (args: readonly string[]) =>
  !args.some((arg) => forbidden.test(arg))
/** With `-v` a shell takes a text for the name of a variable, and some take texts for sums; both run what stands in them. */
const isTestOfTexts = without(/^-v|\$\(|`/)

const READING: ReadonlyMap<string, (args: readonly string[]) => boolean> = new Map([
  ['[', isTestOfTexts],
  ['test', isTestOfTexts],
  ['printf', isTestOfTexts],
  ['command', ([first]) => first === '-v'],
  ['find', without(/^-(?:exec|execdir|ok|okdir|delete|fls|fprint.*)$/)],
  ['rg', without(/^--(?:pre|hostname-bin)/)],
  [
    'sed',
    // Prints lines by their numbers; a script of sed can write and run.
    ([option, lines = '', ...files]) =>
      option === '-n' && /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(lines) && without(/^-/)(files),
  ],
  ['sort', without(/^-[a-zA-Z]*o|^--(?:o|co)/)],
  // A second file is written to.
  ['uniq', (args) => !args.includes('--') && args.filter((arg) => !/^-./.test(arg)).length < 2],
])
