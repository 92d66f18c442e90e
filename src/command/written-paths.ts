import { basename, join } from 'node:path'
import { shorten } from '../text/clean.ts'
import { oneLineOf } from './failure-detail.ts'
import { isLiteral } from './harmless-commands.ts'
import type { ShellCommand } from './shell-commands.ts'
import { type ProjectFolders, isOutside, projectPath, shellFolders } from './shell-folders.ts'
import { programOf } from './unwrap-command.ts'

export interface WrittenPath {
  readonly path: string
  /** The new text, where the command has it and it is short. */
  readonly change?: string
}

export interface WrittenPaths {
  readonly written: readonly WrittenPath[]
  readonly removed: readonly string[]
}

const MAX_PATHS = 12
const MAX_CHANGE_LENGTH = 80

/** What the command wrote and removed, by its words. Only for a command that succeeded. */
export function writtenPaths(
  commands: readonly ShellCommand[],
  lines: readonly string[],
  folders: ProjectFolders,
): WrittenPaths {
  const written = new Map<string, WrittenPath>()
  const removed = new Set<string>()
  const places = shellFolders(commands)
  for (const [index, command] of commands.entries()) {
    const inProject = (path: string) => {
      const found = projectPath(path, places[index], folders)
      return found === undefined || isExcluded(found) ? undefined : found
    }
    const changes = changesOf(command, commands[index - 1], lines, commands)
    for (const source of changes.removed) {
      const path = inProject(source)
      if (path === undefined) continue
      removed.add(path)
      written.delete(path)
    }
    for (const { path: target, change } of changes.written) {
      const path = inProject(target)
      if (path === undefined || written.size >= MAX_PATHS) continue
      removed.delete(path)
      written.set(path, change === undefined ? { path } : { path, change })
    }
  }
  return { written: [...written.values()], removed: [...removed].slice(0, MAX_PATHS) }
}

function isExcluded(path: string) {
  return isOutside(path) || path === '.' || /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/.test(path)
}

interface Changes {
  readonly written: readonly WrittenPath[]
  readonly removed: readonly string[]
}

function changesOf(
  command: ShellCommand,
  previous: ShellCommand | undefined,
  lines: readonly string[],
  all: readonly ShellCommand[],
): Changes {
  const redirected = (command.redirections ?? [])
    .filter(({ operator, written }) => /^&?>{1,2}\|?$/.test(operator) && isLiteral(written))
    .map(({ target }) => changed(target, contentOf(command)))
  const { written, removed } = byProgram(command, previous, lines, all)
  return { written: [...redirected, ...written], removed }
}

const NOTHING: Changes = { written: [], removed: [] }

function changed(path: string, change?: string): WrittenPath {
  return change === undefined ? { path } : { path, change }
}

function byProgram(
  command: ShellCommand,
  previous: ShellCommand | undefined,
  lines: readonly string[],
  all: readonly ShellCommand[],
): Changes {
  const program = programOf(command.words)
  const targets = literalOperands(command)
  const write = (paths: readonly string[]) => ({
    ...NOTHING,
    written: paths.map((path) => changed(path)),
  })
  switch (program) {
    case 'tee': {
      const content = previous?.after === '|' ? contentOf(previous) : undefined
      return { ...NOTHING, written: targets.map((path) => changed(path, content)) }
    }
    case 'touch':
      return write(targets)
    case 'sed':
      return inPlace(command, /^-(?:i|[nErsz]*i)|^--in-place/)
    case 'perl':
    case 'ruby':
      return inPlace(command, /^-[a-zA-Z]*i/)
    case 'cp':
    case 'mv':
      return copied(command, targets, program === 'mv')
    case 'install':
      return command.words.includes('-d') ? NOTHING : copied(withoutValues(command, /^-[mgo]$/))
    case 'dd':
      return write(valuesOf(command, /^of=(.+)$/))
    case 'curl':
      return write(valueAfter(command, /^(?:-[a-zA-Z]*o|--output)$/))
    case 'wget':
      return write(valueAfter(command, /^(?:-O|--output-document)$/))
    case 'rm':
      return {
        written: [],
        removed: command.words.some((word) => /^-\w*r/i.test(word)) ? [] : targets,
      }
    case 'patch':
      return write(pathsInOutput(lines, /^(?:patching|checking) file '?([^\s']+)'?/))
    case 'git':
      return byGit(command, lines, all)
    default:
      return NOTHING
  }
}

function byGit(
  command: ShellCommand,
  lines: readonly string[],
  all: readonly ShellCommand[],
): Changes {
  const at = command.words.findIndex((word, index) => index > 0 && !word.startsWith('-'))
  const verb = command.words[at]
  if (at > 1) return NOTHING
  const rest = { ...command, words: command.words.slice(1), written: command.written.slice(1) }
  const paths = literalOperands(rest)
  if (verb === 'mv') return copied(rest, paths, true)
  if (verb === 'rm')
    return { written: [], removed: command.words.some((word) => /^-\w*r/.test(word)) ? [] : paths }
  if (
    verb !== 'apply' ||
    command.words.some((word) => /^--(?:check|stat|numstat|summary)$/.test(word))
  )
    return NOTHING
  const applied = pathsInOutput(lines, /^Applied patch (?:to )?'?([^\s']+)'? cleanly/)
  const showsStat = all.some(({ words }) => words[0] === 'git' && words.includes('--stat'))
  const stat = showsStat ? pathsInOutput(lines, /^ ([^\s|]+) +\| +\d+ /) : []
  return { ...NOTHING, written: [...applied, ...stat].map((path) => changed(path)) }
}

function pathsInOutput(lines: readonly string[], pattern: RegExp) {
  return lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])
}

/** Words after the program that are neither options nor expanded by the shell. */
function literalOperands({ words, written }: ShellCommand) {
  return words.filter(
    (word, index) =>
      index > 0 &&
      !word.startsWith('-') &&
      isLiteral(written[writtenIndex(words, written, index)] ?? ''),
  )
}

/** `written` may have a prefix of assignments. */
function writtenIndex(words: readonly string[], written: readonly string[], index: number) {
  return index + (written.length - words.length)
}

function valuesOf(command: ShellCommand, pattern: RegExp) {
  return literalOperands(command).flatMap((word) => pattern.exec(word)?.[1] ?? [])
}

function valueAfter({ words, written }: ShellCommand, option: RegExp) {
  return words.flatMap((word, index) => {
    const next = words[index + 1]
    const isKnown =
      next !== undefined && isLiteral(written[writtenIndex(words, written, index + 1)] ?? '')
    return option.test(word) && isKnown && next !== '-' ? [next] : []
  })
}

function withoutValues(command: ShellCommand, option: RegExp): ShellCommand {
  const { words } = command
  const offset = command.written.length - words.length
  const isKept = (index: number) => !option.test(words[index - 1] ?? '')
  return {
    ...command,
    words: words.filter((_, index) => isKept(index)),
    written: command.written.filter((_, index) => isKept(index - offset)),
  }
}

function copied(
  command: ShellCommand,
  targets: readonly string[] = literalOperands(command),
  moves = false,
): Changes {
  const { words } = command
  const operands = words.slice(1).filter((word) => !word.startsWith('-'))
  const to = targets.at(-1)
  // An operand that is not literal makes the number of files unknown.
  if (to === undefined || targets.length < 2 || operands.length !== targets.length) return NOTHING
  if (words.some((word) => /^(?:-t|--target-directory)/.test(word))) return NOTHING
  const from = targets.slice(0, -1)
  const isFolder = from.length > 1 || /(?:^|\/)\.{0,2}$/.test(to) || to.endsWith('/')
  const written = from.map((path) => changed(isFolder ? join(to, basename(path)) : to))
  return { written, removed: moves ? from : [] }
}

function inPlace(command: ShellCommand, option: RegExp): Changes {
  if (!command.words.some((word, index) => index > 0 && option.test(word))) return NOTHING
  const { words } = command
  const scripts: string[] = []
  const skipped = new Set<number>()
  for (let at = 1; at < words.length; at += 1) {
    if (!/^(?:-[a-zA-Z]*e|--expression|-f)$/.test(words[at]!)) continue
    scripts.push(words[at + 1] ?? '')
    skipped.add(at + 1)
    at += 1
  }
  const offset = command.written.length - words.length
  const operands = words.flatMap((word, index) =>
    index === 0 || word.startsWith('-') || skipped.has(index) || word === ''
      ? []
      : [{ word, index }],
  )
  const script = scripts.length === 0 ? operands.shift()?.word : scripts[0]
  const change = script === undefined ? undefined : replacementIn(script)
  return {
    removed: [],
    written: operands
      .filter(({ index }) => isLiteral(command.written[index + offset] ?? ''))
      .map(({ word }) => changed(word, change)),
  }
}

/** The text that `s/old/new/` puts in; with the old one where the new says too little by itself. */
function replacementIn(script: string) {
  const at = /^(?:[\d,$]*|\/[^/]*\/)s([/|#,!@%])/.exec(script)
  if (at === null) return undefined
  const separator = at[1]!
  const parts: string[] = ['']
  for (let index = at[0].length; index < script.length && parts.length < 3; index += 1) {
    const char = script[index]!
    if (char === '\\' && index + 1 < script.length) {
      const next = script[index + 1]!
      parts[parts.length - 1] += next === separator || parts.length === 1 ? next : char + next
      index += 1
    } else if (char === separator) parts.push('')
    else parts[parts.length - 1] += char
  }
  const [old = '', text = ''] = parts.map(oneLineOf)
  if (text === '' || /\\\d|&/.test(text)) return undefined
  const shown = /\p{L}{2}/u.test(text) ? text : `${old} → ${text}`
  return shown.length > MAX_CHANGE_LENGTH ? undefined : shown
}

/** What `echo`, `printf` or a here-document puts into the file, if it is short. */
function contentOf({ words, written, heredoc }: ShellCommand) {
  const program = programOf(words)
  const isPrinter = program === 'printf' || program === 'echo'
  const isKnown = isPrinter && written.slice(1).every(isLiteral)
  if (!isKnown && (heredoc === undefined || program !== 'cat')) return undefined
  const [format = '', ...values] = words.slice(1).filter((word) => !/^-[neE]+$/.test(word))
  const printed =
    program === 'printf' && values.length === 0 ? format : [format, ...values].join(' ')
  const text = oneLineOf((isPrinter ? printed : (heredoc ?? '')).replace(/\\[nt]/g, ' '))
  return text === '' || text.length > MAX_CHANGE_LENGTH || /%[sd]/.test(text)
    ? undefined
    : shorten(text, MAX_CHANGE_LENGTH)
}
