// @modelcontextprotocol/server-memory: a graph that the agent writes and reads with tools. It injects
// nothing by itself, so the agent reads the graph when it is asked about the state.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { toolFolder } from '../tool-folder.mjs'

const PROGRAM = join(
  toolFolder('server-memory'),
  'node_modules/@modelcontextprotocol/server-memory/dist/index.js',
)

export default {
  name: 'server-memory',
  missing: () => (existsSync(PROGRAM) ? undefined : 'not installed, see recipes.md'),
  prepare(world) {
    const memory = { type: 'stdio', ...serverOf(world) }
    writeFileSync(join(world.config, '.claude.json'), JSON.stringify({ mcpServers: { memory } }))
  },
  async record(world, facts) {
    const entities = facts.map(({ id, statement }) => ({
      name: id,
      entityType: 'fact',
      observations: [statement],
    }))
    await callTool(world, 'create_entities', { entities })
  },
  recall: () => [{ name: 'mcp__memory__read_graph', input: {} }],
}

function serverOf(world) {
  const env = { MEMORY_FILE_PATH: join(world.home, 'memory.jsonl') }
  return { command: process.execPath, args: [PROGRAM], env }
}

/** One call of a tool, as an agent makes it. */
async function callTool(world, name, args) {
  const { command, args: programArgs, env } = serverOf(world)
  const child = spawn(command, programArgs, {
    env: { ...world.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  send({ id: 1, method: 'initialize', params })
  await lines.next()
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name, arguments: args } })
  const { value } = await lines.next()
  const { error, result } = JSON.parse(value)
  if (error !== undefined || result.isError === true) throw new Error(`${name} failed: ${value}`)
  child.kill()
  await once(child, 'close')
}
