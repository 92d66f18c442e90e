// What an agent may do without asking anybody. A guard against accidents and not against malice: hooks and test commands run
// whatever the working tree says.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isMissing } from '../journal/errors.ts'
import type { OpenConversation, PermissionRequest } from './contract.ts'
import { isOrdinaryGit } from './git-commands.ts'
import { mayHideOption } from './hidden-options.ts'
import { plainLine } from './plain-line.ts'
import { isHarmlessCommand, isReadingCommand } from './reading-commands.ts'
import { type ShellCommand, shellCommands } from './shell-commands.ts'

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

/**
 * Whether a line is one of those that are allowed, or every command of it is ordinary git, only looks, or begins like one of
 * them.
 */
export function isAllowedCommand(line: string, allow: readonly string[]): boolean {
  if (line.length > LONGEST) return false
  if (allow.some((allowed) => isJust(line.trim(), allowed.trim()))) return true
  const plain = plainLine(line)
  if (plain === undefined) return false
  const beginnings = allow.filter((allowed) => !SHELL_SYNTAX.test(allowed)).map((allowed) => allowed.trim().split(/\s+/))
  const commands = shellCommands(plain)
  return commands.length > 0 && commands.every((command) => isAllowedPart(command, beginnings))
}

const LONGEST = 32_768

// With what has to be allowed as a whole, since its beginning says too little: quotations, several commands, redirections.
const SHELL_SYNTAX = /['"\\`$;&|<>()#\n]/

/** Looking at only the end of what it prints changes nothing about a command. */
const SHORTENED = /^(?: 2>&1)?(?: ?\| ?(?:tail|head)(?: -n ?| -)\d+)?$/

function isJust(line: string, allowed: string): boolean {
  return allowed !== '' && line.startsWith(allowed) && SHORTENED.test(line.slice(allowed.length))
}

function isAllowedPart({ words, written }: ShellCommand, beginnings: readonly (readonly string[])[]): boolean {
  if (isHarmlessCommand(words) || beginnings.some((beginning) => beginsWith(words, beginning))) return true
  return !written.some(mayHideOption) && (isReadingCommand(words) || isOrdinaryGit(words))
}

/** `npm test` allows `npm test:unit` as well, but `stint` no program with a longer name. */
function beginsWith(words: readonly string[], beginning: readonly string[]): boolean {
  const last = beginning.length - 1
  const isLast = (index: number) => index === last && index > 0
  return (
    beginning[0] !== '' &&
    beginning.every((word, index) => (isLast(index) ? words[index]?.startsWith(word) === true : words[index] === word))
  )
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
