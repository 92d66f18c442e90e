// How an agent program starts our MCP server. The text holds no path of this machine, so that a file with it can be committed.
import { LAUNCHER } from './hook-command.ts'

/** The server's name, by which its tools are called: `mcp__stint__journal`. */
export const MCP_SERVER = 'stint'

/** The environment that says which project, session, run and conversation is meant, where a program passes on only what is named. */
export const MCP_ENVIRONMENT = [
  'STINT_STATE_HOME',
  'XDG_STATE_HOME',
  'STINT_SESSION',
  'STINT_RUN',
  'STINT_CONVERSATION',
] as const

/**
 * Finds Stint as the hooks do: by the launcher, in the project, on the PATH. Without braces around variables, for Claude Code
 * takes those for its own. Where there is no Stint, a server answers that can do nothing: one that ends would be shown to a
 * teammate as broken.
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

/** As a program and its arguments. */
export const MCP_COMMAND = {
  command: 'sh',
  args: ['-c', `${FIND}; while IFS= read -r l; do printf '%s\\n' "$l" | sed -n '${NOBODY}'; done`],
}

/** A file of Claude Code's servers that holds no others. */
export const MCP_FILE = { mcpServers: { [MCP_SERVER]: MCP_COMMAND } }

/** Whether a server is one that some version of `stint setup` registered. */
export function isStintServer(server: unknown): boolean {
  const { args } = (typeof server === 'object' && server !== null ? server : {}) as {
    readonly args?: unknown
  }
  return (
    Array.isArray(args) &&
    args.some((word) => typeof word === 'string' && word.includes(`$s/${LAUNCHER}`))
  )
}
