import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { oneLine, shorten } from '../../../text/clean.ts'
import type { OpenConversation, PermissionRequest } from '../../contract/drive.ts'
import { isPermitted } from '../../contract/permission-rules.ts'
import type { ToolUse } from './updates.ts'
import { defined } from '../../../text/defined.ts'

const LOOKING = new Set(['read', 'search', 'think'])
const EDITING = new Set(['edit', 'delete', 'move'])

export async function isAllowed(use: ToolUse, options: OpenConversation): Promise<boolean> {
  if (options.permissions === 'all' || (await isAllowedByRules(use, options))) return true
  return (await options.decide?.(requestAbout(use))) ?? false
}

async function isAllowedByRules(
  use: ToolUse,
  { permissions, allow, cwd, branch }: OpenConversation,
): Promise<boolean> {
  const { kind = 'other', command, paths } = use
  const rules = { permissions, allow, cwd, ...defined({ branch }) }
  const request = requestAbout(use)
  if (command !== undefined) return isPermitted(request, rules)
  if (LOOKING.has(kind)) return permissions === 'edits'
  // The path that a tool of another kind names need not be what it changes.
  if (!EDITING.has(kind) || paths.length === 0) return false
  const allowed = await Promise.all(paths.map((path) => isPermitted({ ...request, path }, rules)))
  return allowed.every(Boolean)
}

function requestAbout({ name, title, command, cwd, paths }: ToolUse): PermissionRequest {
  const words = oneLine(title ?? command ?? paths[0] ?? name)
  return {
    tool: name,
    title: shorten(words === '' ? name : words, 200),
    ...defined({ command, cwd, path: paths[0] }),
  }
}

export function answer(
  isYes: boolean,
  options: readonly PermissionOption[],
): RequestPermissionResponse {
  const kinds = isYes ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0]
  return {
    outcome:
      chosen === undefined
        ? { outcome: 'cancelled' }
        : { outcome: 'selected', optionId: chosen.optionId },
  }
}
