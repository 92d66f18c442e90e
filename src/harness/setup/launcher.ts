import { join } from 'node:path'
import { LAUNCHER } from './hook-command.ts'

/** The programs on this machine that run a hook. */
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

export function parseLauncher(text: string): HookProgram | undefined {
  const [, node, hook] = /^([^\t\n]+)\t([^\t\n]+)\n$/.exec(text) ?? []
  return node === undefined || hook === undefined ? undefined : { node, hook }
}

export const MCP_SERVER = 'stint'

/** For programs that only pass on named variables. */
export const MCP_ENVIRONMENT = [
  'STINT_STATE_HOME',
  'XDG_STATE_HOME',
  'STINT_SESSION',
  'STINT_RUN',
  'STINT_CONVERSATION',
] as const

/**
 * Runs only what the launcher names: a program from the PATH or the project may come with a clone.
 * Without braces, which Claude Code would expand, and without `dirname`: Node resolves `..` itself.
 * Without Stint an empty server answers,
 * since one that exits looks broken to a teammate.
 */
const FIND_STINT = [
  's=$STINT_STATE_HOME',
  '[ "$s" ] || { s=$XDG_STATE_HOME; [ "$s" ] || s=$HOME/.local/state; s=$s/stint; }',
  'case $s in /*) ;; *) s=; esac',
  `[ -r "$s/${LAUNCHER}" ] && IFS='\t' read -r n h <"$s/${LAUNCHER}" && [ -x "$n" ] && [ -r "$h" ] && exec "$n" "$h/../stint.js" mcp`,
  // For `sed`, where there is no Stint.
  'PATH=/usr/bin:/bin:$PATH',
].join('; ')

const EMPTY_SERVER = [
  `/"method": *"initialize"/!s/.*"id": *\\([^,}]*\\).*/{"jsonrpc":"2.0","id":\\1,"error":{"code":-32601,"message":"Stint is not installed here"}}/p`,
  `/"method": *"initialize"/s/.*"id": *\\([^,}]*\\).*/{"jsonrpc":"2.0","id":\\1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"stint","version":"0"}}}/p`,
].join(';')

export const MCP_COMMAND = {
  command: 'sh',
  args: [
    '-c',
    `${FIND_STINT}; while IFS= read -r l; do printf '%s\\n' "$l" | sed -n '${EMPTY_SERVER}'; done`,
  ],
}

export const MCP_FILE = { mcpServers: { [MCP_SERVER]: MCP_COMMAND } }

/** Whether any version of `stint setup` registered the server. */
export function isStintServer(server: unknown): boolean {
  const { args } = Object(server) as { readonly args?: unknown }
  return (
    Array.isArray(args) &&
    args.some((word) => typeof word === 'string' && word.includes(`$s/${LAUNCHER}`))
  )
}
