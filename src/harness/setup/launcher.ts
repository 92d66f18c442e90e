import { join } from 'node:path'
import { LAUNCHER } from './hook-command.ts'
import { type FileChange, hasOtherManifests, readText } from './plan.ts'

export interface HookProgram {
  readonly node: string
  readonly hook: string
}

export function launcherPath(stateHome: string): string {
  return join(stateHome, LAUNCHER)
}

/** Not quoted: the shell reads it into variables. */
export function launcherText({ node, hook }: HookProgram): string {
  return `${node}\t${hook}\n`
}

export function programIn(text: string): HookProgram | undefined {
  const [, node, hook] = /^([^\t\n]+)\t([^\t\n]+)\n$/.exec(text) ?? []
  return node === undefined || hook === undefined ? undefined : { node, hook }
}

interface PlannedLauncher {
  readonly changes: readonly FileChange[]
  readonly notes: readonly string[]
}

export function planLauncher(stateHome: string, program: HookProgram | undefined): PlannedLauncher {
  if (program === undefined) {
    return {
      changes: [],
      notes: [
        'this Stint runs from its sources: hooks will look for `stint` in the project and on the PATH',
      ],
    }
  }
  if (programIn(launcherText(program)) === undefined) {
    return {
      changes: [],
      notes: [
        'the path of this Stint has a line break or a tab: hooks will look for `stint` in the project and on the PATH',
      ],
    }
  }
  const path = launcherPath(stateHome)
  const before = readText(path)
  const after = launcherText(program)
  const isPassing = /[/\\]_npx[/\\]/.test(program.hook)
  return {
    changes: before === after ? [] : [{ path, before, after }],
    notes: isPassing
      ? ['this Stint lies in a cache of npx, which may be emptied: npm install --global stint']
      : [],
  }
}

export function planLastRemoval(
  stateHome: string,
  manifest: string,
  changes: readonly FileChange[],
): readonly FileChange[] {
  const isAnything = changes.length > 0 || readText(manifest) !== undefined
  if (!isAnything || hasOtherManifests(stateHome, manifest)) return []
  const path = launcherPath(stateHome)
  const before = readText(path)
  return before === undefined ? [] : [{ path, before, after: undefined }]
}

export const MCP_SERVER = 'stint'

/** Passed on by programs that only pass named variables. */
export const MCP_ENVIRONMENT = [
  'STINT_STATE_HOME',
  'XDG_STATE_HOME',
  'STINT_SESSION',
  'STINT_RUN',
  'STINT_CONVERSATION',
] as const

/**
 * Without braces, which Claude Code would expand. Without Stint an empty server answers, since one
 * that ends looks broken to a teammate.
 */
const FIND = [
  's=$STINT_STATE_HOME',
  '[ "$s" ] || { s=$XDG_STATE_HOME; [ "$s" ] || s=$HOME/.local/state; s=$s/stint; }',
  `[ -r "$s/${LAUNCHER}" ] && IFS='\t' read -r n h <"$s/${LAUNCHER}" && j=$(dirname "$h")/stint.js && [ -x "$n" ] && [ -r "$j" ] && exec "$n" "$j" mcp`,
  '[ -x node_modules/.bin/stint ] && exec node_modules/.bin/stint mcp',
  'command -v stint >/dev/null && exec stint mcp',
].join('; ')

const NOBODY = [
  `/"method": *"initialize"/!s/.*"id": *\\([^,}]*\\).*/{"jsonrpc":"2.0","id":\\1,"error":{"code":-32601,"message":"Stint is not installed here"}}/p`,
  `/"method": *"initialize"/s/.*"id": *\\([^,}]*\\).*/{"jsonrpc":"2.0","id":\\1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"stint","version":"0"}}}/p`,
].join(';')

export const MCP_COMMAND = {
  command: 'sh',
  args: ['-c', `${FIND}; while IFS= read -r l; do printf '%s\\n' "$l" | sed -n '${NOBODY}'; done`],
}

export const MCP_FILE = { mcpServers: { [MCP_SERVER]: MCP_COMMAND } }

export function isStintServer(server: unknown): boolean {
  const { args } = (typeof server === 'object' && server !== null ? server : {}) as {
    readonly args?: unknown
  }
  return (
    Array.isArray(args) &&
    args.some((word) => typeof word === 'string' && word.includes(`$s/${LAUNCHER}`))
  )
}
