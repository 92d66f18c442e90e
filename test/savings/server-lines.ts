import { SERVER_INSTRUCTIONS, listTools } from '../../src/mcp/tools.ts'

/** The tools that Claude Code adds for a server with resources. */
const RESOURCE_TOOLS = ['ListMcpResourcesTool', 'ReadMcpResourceDirTool', 'ReadMcpResourceTool']

const INSTRUCTION_LINES = [
  '# MCP Server Instructions',
  'The following MCP servers have provided instructions for how to use their tools and resources:',
  '## stint',
  SERVER_INSTRUCTIONS,
]

/** What Claude Code sends of the server in every conversation: tool names only, since tools load on demand. Checked with the real client. */
export function serverLines(): string {
  const names = listTools().map(({ name }) => `mcp__stint__${name}`)
  return [...RESOURCE_TOOLS, ...names.toSorted(), ...INSTRUCTION_LINES].join('\n')
}

/** The tools as sent by a client that loads them all at once. Checked with the real client. */
export function serverTools(): readonly object[] {
  return listTools().map(({ name, description, inputSchema }) => ({
    name: `mcp__stint__${name}`,
    description,
    input_schema: inputSchema,
  }))
}

/** The server for a client that loads all tools at once. */
export function serverWhole(): string {
  return [JSON.stringify(serverTools()), ...INSTRUCTION_LINES].join('\n')
}
