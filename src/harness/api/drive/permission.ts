import { resolve } from 'node:path'
import { oneLine, shorten } from '../../../text/clean.ts'
import { type Json, textOf } from '../../../text/json-fields.ts'
import type { OpenConversation, PermissionRequest } from '../../contract/drive.ts'
import { isInside } from '../../../command/inside-tree.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'
import { defined } from '../../../text/defined.ts'

/** What a use of a tool is about: its command, or its file by its whole path. */
export function targetOf(
  input: Json,
  cwd: string,
): { readonly command?: string; readonly path?: string } {
  const path = textOf(input['path'])
  return defined({
    command: textOf(input['command']),
    path: path === undefined ? undefined : resolve(cwd, path),
  })
}

/** Why a use of a tool is not permitted; undefined when it is. */
export async function refusal(
  tool: string,
  input: Json,
  options: OpenConversation,
): Promise<string | undefined> {
  const target = targetOf(input, options.cwd)
  // Looking at the project is what it was started for.
  if (tool === 'read' && target.path !== undefined && isInside(options.cwd, target.path))
    return undefined
  const about = target.command ?? textOf(input['path'])
  const title = shorten(oneLine(about === undefined ? tool : `${tool}: ${about}`), 200)
  const request: PermissionRequest = { tool, title, ...target }
  // Who cannot be asked has not allowed it.
  if (await isPermitted(request, options).catch(() => false)) return undefined
  const reason = reasonAgainst(request, options)
  return `This is not permitted here: ${title}${reason === undefined ? '' : ` (${reason})`}. Do without it, or say that it cannot be done.`
}
