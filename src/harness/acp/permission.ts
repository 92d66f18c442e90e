import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { oneLine, shorten } from '../../text/clean.ts'
import type { OpenConversation, PermissionRequest } from '../contract.ts'
import { given } from '../json-fields.ts'
import { isWithin, mayRun } from '../permissions.ts'
import type { ToolUse } from './tools.ts'

/** Kinds of tools that change nothing. */
const LOOKING = new Set(['read', 'search', 'think'])
const EDITING = new Set(['edit', 'delete', 'move'])

/** Whether a use of a tool is allowed, by the rules and then by whoever decides. */
export async function isAllowed(use: ToolUse, options: OpenConversation): Promise<boolean> {
  if (options.permissions === 'all' || (options.permissions === 'edits' && isAllowedByEdits(use, options))) return true
  return (await options.decide?.(requestAbout(use))) ?? false
}

function isAllowedByEdits({ kind = 'other', command, paths }: ToolUse, { cwd, allow }: OpenConversation): boolean {
  if (command !== undefined || kind === 'execute') return command !== undefined && mayRun(command, allow)
  if (LOOKING.has(kind)) return true
  return EDITING.has(kind) && paths.length > 0 && paths.every((path) => isWithin(cwd, path))
}

function requestAbout({ name, title, command, paths }: ToolUse): PermissionRequest {
  const words = oneLine(title ?? command ?? paths[0] ?? name)
  return { tool: name, title: shorten(words === '' ? name : words, 200), ...given({ command, path: paths[0] }) }
}

/** The answer in the agent's own options: for this once where it can be had. */
export function answer(isYes: boolean, options: readonly PermissionOption[]): RequestPermissionResponse {
  const kinds = isYes ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0]
  return { outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId } }
}
