// What an agent may do without asking anybody. A guard against accidents and not against malice: git and test commands run
// whatever the working tree says.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isMissing } from '../journal/errors.ts'
import type { OpenConversation, PermissionRequest } from './contract.ts'
import { isReadingCommand } from './reading-commands.ts'
import { shellCommands } from './shell-commands.ts'

type Rules = Pick<OpenConversation, 'permissions' | 'allow' | 'cwd' | 'decide'>

/** By the rules where they allow it, and otherwise as the person decides; refused where there is none. */
export async function isPermitted(request: PermissionRequest, rules: Rules): Promise<boolean> {
  if (isAllowed(request, rules)) return true
  return (await rules.decide?.(request)) ?? false
}

function isAllowed({ command, path }: PermissionRequest, { permissions, allow, cwd }: Rules): boolean {
  if (permissions !== 'edits') return permissions === 'all'
  if (command !== undefined) return isAllowedCommand(command, allow)
  return path !== undefined && isInside(cwd, path)
}

/** Whether every command of a line is git, only looks, or begins like one of those that are allowed. */
export function isAllowedCommand(line: string, allow: readonly string[]): boolean {
  if (line.length > LONGEST || !isPlain(line)) return false
  const beginnings = ['git', ...allow].map((beginning) => beginning.trim().split(/\s+/))
  const commands = shellCommands(line)
  return (
    commands.length > 0 &&
    commands.every(({ words }) => isReadingCommand(words) || beginnings.some((beginning) => beginsWith(words, beginning)))
  )
}

const LONGEST = 32_768

/** `npm test` allows `npm test:unit` as well, but `stint` no program with a longer name. */
function beginsWith(words: readonly string[], beginning: readonly string[]): boolean {
  const last = beginning.length - 1
  const isLast = (index: number) => index === last && index > 0
  return (
    beginning[0] !== '' &&
    beginning.every((word, index) => (isLast(index) ? words[index]?.startsWith(word) === true : words[index] === word))
  )
}

// Harmless, and in every second command of an agent.
const QUIET = /(?:\d?>&\d|&>>? ?\/dev\/null|\d?>>? ?\/dev\/null|< ?\/dev\/null)(?=$|[\s;&|)])/g

/**
 * Whether a line is what it seems to whoever splits it into commands: no command inside another, no file written by the
 * shell, and no quotation that shells read in another way.
 */
function isPlain(line: string): boolean {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000B-\u001F\u007F]/.test(line)) return false
  // What stands outside of quotations; a letter stands for what is inside.
  let outside = ''
  let quote: string | undefined
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!
    if (char === '#' && quote === undefined && /(?:^|[\s;&|()])$/.test(outside)) {
      // A quotation that begins in a comment is none.
      at = endOfLine(line, at) - 1
      continue
    }
    if (quote !== "'" && (char === '`' || startsExpansion(line.slice(at, at + 2), quote))) return false
    const isEscaped = quote !== "'" && char === '\\'
    if (isEscaped) at += 1
    const isQuote = !isEscaped && (quote === undefined ? /['"]/.test(char) : char === quote)
    if (isQuote) quote = quote === undefined ? char : undefined
    outside += isEscaped || isQuote || quote !== undefined ? 'q' : char
  }
  // A blank of another script parts words for us and not for a shell.
  return quote === undefined && !/[<>]|[^\S \t\n]/.test(outside.replace(QUIET, ''))
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function startsExpansion(pair: string, quote: string | undefined): boolean {
  return pair === '$(' || (quote === undefined && (pair === "$'" || pair === '$"'))
}

/** Whether a file is in the working tree, wherever links lead, and not in what git keeps for itself. */
function isInside(cwd: string, path: string): boolean {
  const way = relative(realPath(cwd), realPath(resolve(cwd, path)))
  const steps = way.split(sep)
  return way !== '' && steps[0] !== '..' && !steps.includes('.git')
}

/** What does not exist yet is where its folder is. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isMissing(error) || parent === path) return path
    return join(realPath(parent), basename(path))
  }
}
