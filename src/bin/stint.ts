#!/usr/bin/env node
// A hook is served by the program made for it, and an MCP client by its server; loading all the commands for one would cost more than the rest.
import { createRequire } from 'node:module'

const [, , command, ...rest] = process.argv
const isHook =
  (command === 'hook' && (rest.length === 0 || rest[0] === 'after')) ||
  (command === 'statusline' && rest.length === 0)

if (isHook) {
  createRequire(import.meta.url)('./hook.cjs')
} else if (command === 'mcp' && rest.length === 0) {
  const { serveHere } = await import('../mcp/serve-mcp.ts')
  await serveHere(new URL('../package.json', import.meta.url))
} else {
  const { main } = await import('../cli/main.ts')
  await main(new URL('../package.json', import.meta.url))
}
