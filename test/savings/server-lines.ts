import { SERVER_INSTRUCTIONS, listTools } from '../../src/mcp/tools.ts'

/** The tools that Claude Code adds itself where a server has documents. */
const FOR_DOCUMENTS = ['ListMcpResourcesTool', 'ReadMcpResourceDirTool', 'ReadMcpResourceTool']

const SAID = [
  '# MCP Server Instructions',
  'The following MCP servers have provided instructions for how to use their tools and resources:',
  '## stint',
  SERVER_INSTRUCTIONS,
]

/** The server as Claude Code tells every conversation of it: a tool by its name, for it is loaded when it is needed. Tried with the real client. */
export function serverLines(): string {
  const names = listTools().map(({ name }) => `mcp__stint__${name}`)
  return [...FOR_DOCUMENTS, ...names.toSorted(), ...SAID].join('\n')
}

/** The tools as a client sends them that loads none late. Tried with the real client. */
export function serverTools(): readonly object[] {
  return listTools().map(({ name, description, inputSchema }) => ({
    name: `mcp__stint__${name}`,
    description,
    input_schema: inputSchema,
  }))
}

/** The server where no tool is loaded late. */
export function serverWhole(): string {
  return [JSON.stringify(serverTools()), ...SAID].join('\n')
}
