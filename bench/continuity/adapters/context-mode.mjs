// context-mode: a plugin with hooks and an MCP server. Needs Node 22.5 and its native package.
import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { toolFolder } from '../tool-folder.mjs'

const MODULES = join(toolFolder('context-mode'), 'node_modules')
const PLUGIN = join(MODULES, 'context-mode')
const NODE = join(MODULES, 'node', 'bin', 'node')
/** Without it every hook tries to build the package, and a turn takes minutes. */
const PROBE = "new (require('better-sqlite3'))(':memory:').close()"

export default {
  name: 'context-mode',
  missing() {
    if (!existsSync(NODE) || !existsSync(PLUGIN)) return 'not installed, see recipes.md'
    try {
      execFileSync(NODE, ['-e', PROBE], { cwd: PLUGIN, stdio: 'ignore' })
      return undefined
    } catch {
      // It was built for another Node.
      return 'its better-sqlite3 does not load with Node 22, see recipes.md'
    }
  },
  prepare(world) {
    symlinkSync(NODE, join(world.bin, 'node'))
    // A copy, because it writes into its own folder.
    execFileSync('cp', ['-a', PLUGIN, pluginIn(world)])
  },
  args: (world) => ['--plugin-dir', pluginIn(world)],
  hookFiles: (world) => [join(pluginIn(world), 'hooks', 'hooks.json')],
}

function pluginIn(world) {
  return join(world.home, 'context-mode')
}
