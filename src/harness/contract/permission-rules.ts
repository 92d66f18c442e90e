// A guard against accidents, not malice: hooks and tests run whatever the working tree says.
import { resolve } from 'node:path'
import type { ConversationOptions, PermissionRequest } from './drive.ts'
import { type GitScope, isOrdinaryGit } from '../../command/git-commands.ts'
import {
  workingFolders,
  isHarmlessCommand,
  isReadOnlyCommand,
  mayHideOption,
  plainShellLine,
} from '../../command/harmless-commands.ts'
import {
  PROTECTED_NAMES,
  isEditable,
  isFolderInside,
  isInsideTree,
} from '../../command/inside-tree.ts'
import { type ShellCommand, shellCommands } from '../../command/shell-commands.ts'

type PermissionRules = Pick<
  ConversationOptions,
  'permissions' | 'allow' | 'cwd' | 'branch' | 'decide'
>

export async function isPermitted(
  request: PermissionRequest,
  rules: PermissionRules,
): Promise<boolean> {
  if (isAllowedByRules(request, rules)) return true
  return (await rules.decide?.(request)) ?? false
}

export function refusalReason(
  { command, path }: PermissionRequest,
  { permissions, allow, cwd, branch }: PermissionRules,
): string | undefined {
  if (permissions !== 'edits') return undefined
  if (command === undefined) {
    if (path === undefined) return undefined
    return isInsideTree(cwd, path)
      ? `agents do not edit ${PROTECTED_NAMES.join(', ')}`
      : 'only files of this working tree may be edited'
  }
  const own = branch === undefined ? 'its own branch' : `its branch, ${branch}`
  return isAllowedCommand(command, allow)
    ? `it may change what is not of this working tree and of ${own}`
    : undefined
}

/** By the rules alone. */
export function isAllowedByRules(
  { command, path, cwd: requestCwd }: PermissionRequest,
  { permissions, allow, cwd, branch }: PermissionRules,
): boolean {
  if (permissions !== 'edits') return permissions === 'all'
  if (command !== undefined)
    return isAllowedCommand(command, allow, {
      tree: cwd,
      branch,
      folders: [resolve(cwd, requestCwd ?? '')],
    })
  return path !== undefined && isEditable(cwd, path)
}

/** With a scope, every command that does more than read has to stay inside it. */
export function isAllowedCommand(
  line: string,
  allow: readonly string[],
  scope?: GitScope,
): boolean {
  if (line.length > MAX_COMMAND_LENGTH) return false
  const staysInside =
    scope === undefined || scope.folders.every((folder) => isFolderInside(scope.tree, folder))
  if (staysInside && allow.some((allowed) => isSameCommand(line.trim(), allowed.trim())))
    return true
  const plain = plainShellLine(line)
  if (plain === undefined) return false
  const prefixes = allow
    .filter((allowed) => !SHELL_SYNTAX.test(allowed))
    .map((allowed) => allowed.trim().split(/\s+/))
  const commands = shellCommands(plain)
  const folders =
    scope === undefined ? [] : workingFolders(commands, scope.folders, /[(){}!]/.test(plain))
  return (
    commands.length > 0 &&
    commands.every((command, at) =>
      isAllowedShellCommand(command, prefixes, scope && { ...scope, folders: folders[at]! }),
    )
  )
}

const MAX_COMMAND_LENGTH = 32_768

// Matched only as a whole, since its first words say too little.
const SHELL_SYNTAX = /['"\\`$;&|<>()#\n]/

/** Truncating the output does not change a command. */
const OUTPUT_TRUNCATION = /^(?: 2>&1)?(?: ?\| ?(?:tail|head)(?: -n ?| -)\d+)?$/

function isSameCommand(line: string, allowed: string) {
  return (
    allowed !== '' && line.startsWith(allowed) && OUTPUT_TRUNCATION.test(line.slice(allowed.length))
  )
}

function isAllowedShellCommand(
  command: ShellCommand,
  prefixes: readonly (readonly string[])[],
  scope: GitScope | undefined,
) {
  const { words, written } = command
  if (isHarmlessCommand(words)) return true
  const staysInside =
    scope === undefined || scope.folders.every((folder) => isFolderInside(scope.tree, folder))
  if (staysInside && prefixes.some((prefix) => startsWithWords(words, prefix))) return true
  return !written.some(mayHideOption) && (isReadOnlyCommand(words) || isOrdinaryGit(command, scope))
}

/**
 * `npm test` also allows `npm test:unit`, but `stint` does not allow a program with a longer name.
 */
function startsWithWords(words: readonly string[], prefix: readonly string[]) {
  const last = prefix.length - 1
  const isLast = (index: number) => index === last && index > 0
  return (
    prefix[0] !== '' &&
    prefix.every((word, index) =>
      isLast(index) ? words[index]?.startsWith(word) === true : words[index] === word,
    )
  )
}
